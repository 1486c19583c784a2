"""Somebody's role, and what it lets them do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.core import Settings
from contextlens.ui.access.roles import (
    EVERYBODY,
    EXPORT,
    FETCH,
    KEEP,
    LOOK,
    MANAGE,
    PERMISSIONS,
    UPLOAD,
    Person,
    Role,
    person_of,
    refusal,
)

ON = Settings(
    sign_in="required",
    admins=("ada@example.org",),
    uploaders=("@example.org",),
    viewers=("@example.com",),
    role_claim="roles",
    default_role="none",
)
WHO = {"is_logged_in": True, "iss": "https://id.example", "sub": "1"}


def changed(**settings: Any) -> Settings:
    return ON.model_copy(update=settings)


def somebody(**claims: Any) -> Person:
    return person_of({**WHO, **claims}, ON)


def with_address(address: Any, verified: Any = True) -> Role:
    return somebody(email=address, email_verified=verified).role


# Roles


def test_where_nobody_signs_in_everybody_may_do_everything() -> None:
    assert person_of({}, Settings()) is EVERYBODY
    assert all(not refusal(EVERYBODY, permission, Settings()) for permission in PERMISSIONS)


def test_who_has_not_signed_in_is_nobody_or_a_guest() -> None:
    for claims in ({}, {**WHO, "is_logged_in": False}, {"is_logged_in": True, "sub": "1"}):
        assert person_of(claims, ON) == Person(Role.NONE)
        assert person_of(claims, changed(sign_in="optional")) == Person(Role.VIEWER)
    nameless = {"is_logged_in": True, "iss": "https://id.example", "sub": ""}
    assert person_of(nameless, ON) == Person(Role.NONE)


@pytest.mark.parametrize(
    ("address", "role"),
    [
        ("ada@example.org", Role.ADMIN),
        ("ADA@Example.Org", Role.ADMIN),
        ("bob@example.org", Role.UPLOADER),
        ("bob@example.com", Role.VIEWER),
        ("ada@example.net", Role.NONE),
        ("ada@sub.example.org", Role.NONE),
        ("ada@example.org.evil.example", Role.NONE),
        ("ada@example.org@evil.example", Role.NONE),
        ("evil@evil.example ada@example.org", Role.NONE),
        ("@example.org@evil.example", Role.NONE),
        ("ada@e\u212aample.org", Role.NONE),
        ("ad\u00e4@example.org", Role.NONE),
        (["ada@example.org"], Role.NONE),
        ({"ada@example.org": 1}, Role.NONE),
        (None, Role.NONE),
    ],
)
def test_a_role_by_an_address_is_that_of_the_very_address(address: Any, role: Role) -> None:
    assert with_address(address) is role


@pytest.mark.parametrize("verified", [None, False, "false", "True", 1, "yes", [], "1"])
def test_an_address_that_is_not_verified_does_not_count_and_that_is_said(verified: Any) -> None:
    who = somebody(email="ada@example.org", email_verified=verified)
    assert who.role is Role.NONE
    assert "verified" in who.note
    assert who.note in refusal(who, LOOK, ON)
    assert with_address("ada@example.org", "true") is Role.ADMIN  # as some providers write it
    assert somebody(email="ada@example.org").role is Role.NONE


@pytest.mark.parametrize(
    ("said", "role"),
    [
        ("admin", Role.ADMIN),
        (["viewer", "uploader"], Role.UPLOADER),
        (["none"], Role.NONE),
        (["Admin", "administrator", 3, None], Role.NONE),
        ({"admin": True}, Role.NONE),
        (3, Role.NONE),
        ("", Role.NONE),
    ],
)
def test_a_role_by_a_claim(said: Any, role: Role) -> None:
    assert somebody(roles=said).role is role
    assert person_of({**WHO, "roles": said}, changed(role_claim="")).role is Role.NONE


def test_the_first_that_names_somebody_decides() -> None:
    own = {"email": "bob@example.org", "email_verified": True}
    both = changed(admins=("@example.org",), viewers=("bob@example.org",))
    assert person_of({**WHO, **own}, both).role is Role.ADMIN
    for claimed in (["viewer"], "admin"):  # a list comes before the claim
        assert somebody(**own, roles=claimed).role is Role.UPLOADER
    generous = changed(default_role="uploader")  # the claim before the default
    assert person_of({**WHO, "roles": "viewer"}, generous).role is Role.VIEWER
    assert person_of(WHO, generous).role is Role.UPLOADER


CLAIMS = ("iss", "sub", "email", "email_verified", "name", "roles")
SAID = st.none() | st.booleans() | st.text(max_size=8) | st.lists(st.text(max_size=8))


@given(st.dictionaries(st.sampled_from(CLAIMS), SAID))
def test_whatever_a_provider_says_nobody_becomes_more_than_they_are(claims: dict[str, Any]) -> None:
    who = person_of({**claims, "is_logged_in": True}, changed(role_claim=""))
    assert who.role is Role.NONE
    assert len(who.name) <= 200


def test_an_owner_is_the_same_at_every_visit_and_nobody_else() -> None:
    assert somebody(name="A").owner == somebody(name="B", email="x").owner
    others = {person_of({**WHO, **own}, ON).owner for own in ({}, {"sub": "2"}, {"iss": "b"})}
    assert len(others) == 3
    assert "1" not in others
    assert not person_of({}, ON).owner


# Rights


@pytest.mark.parametrize("role", list(Role))
def test_each_role_may_do_what_those_below_it_may(role: Role) -> None:
    may = {
        permission for permission in PERMISSIONS if not refusal(Person(role, "o"), permission, ON)
    }
    assert (
        may
        == {
            Role.NONE: set(),
            Role.VIEWER: {LOOK, EXPORT},
            Role.UPLOADER: {LOOK, EXPORT, UPLOAD, KEEP},
            Role.ADMIN: set(PERMISSIONS),
        }[role]
    )


@pytest.mark.parametrize("permission", PERMISSIONS)
@pytest.mark.parametrize("role", list(Role))
def test_a_refusal_says_what_is_wanted_and_what_to_do(role: Role, permission: Any) -> None:
    for who in (Person(role, "owner", "Ann"), Person(role)):
        said = refusal(who, permission, ON)
        assert bool(said) is (role < permission.role)
        if said:
            assert permission.role.title in said
            assert said.endswith((".", "first."))


def test_in_a_demo_even_an_admin_may_only_look() -> None:
    demo = Settings(demo=True)
    assert [
        permission for permission in PERMISSIONS if not refusal(EVERYBODY, permission, demo)
    ] == [LOOK]
    for permission in (EXPORT, UPLOAD, KEEP, FETCH, MANAGE):
        assert refusal(EVERYBODY, permission, demo).startswith(
            f"This is a demo, where nobody may {permission.action}."
        )


# The documentation


def test_the_page_about_access_has_the_same_table_of_rights() -> None:
    text = (Path(__file__).parents[3] / "docs" / "access.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) \| (.*?) \| (.*?) \| (.*?) \| (.*?) \|$", text, re.M)
    written = [row for row in rows if row[1] in {"yes", ""}]
    roles = (Role.VIEWER, Role.UPLOADER, Role.ADMIN)
    expected = [
        (permission.action, *("yes" if role >= permission.role else "" for role in roles),
         "yes" if permission.in_demo else "")
        for permission in PERMISSIONS
    ]  # fmt: skip
    assert written == expected
