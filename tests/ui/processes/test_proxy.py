"""The proxy's configuration, as text: who gets whom, and what the log may say."""

from __future__ import annotations

import re

import pytest

from components.ui.processes.proxy import COOKIE, Proxy, configuration

PAGES = ("home", "meaning")
SAID = {
    *("time_iso8601", "remote_addr", "method", "place", "status", "body_bytes_sent"),
    *("request_time", "answered"),
}
"""What the log may say: nothing of it is a visitor's own words."""


def proxy(n: int = 3, **changes: object) -> Proxy:
    processes = tuple(f"127.0.0.1:{8502 + i}" for i in range(n))
    own: dict[str, object] = {"listen": ("127.0.0.1:8501",), "processes": processes,
                              "folder": "/run/contextlens", "pages": PAGES}  # fmt: skip
    return Proxy(**{**own, **changes})  # type: ignore[arg-type]


def group(text: str, name: str) -> dict[str, str]:
    """The servers of a group, and what is said of each."""
    found = re.search(rf"upstream {name} {{(.*?)}}", text, re.DOTALL)
    assert found is not None
    rows = re.findall(r"server (\S+) max_fails=1 fail_timeout=5s ?(\w*);", found[1])
    return {address.rpartition(":")[2]: said for address, said in rows}


def test_each_process_has_a_group_with_all_others_behind_it() -> None:
    text = configuration(proxy())
    for own in range(3):
        wanted = {str(8502 + i): "" if i == own else "backup" for i in range(3)}
        assert group(text, f"process_{own}") == wanted
    assert group(text, "new") == {"8502": "", "8503": "", "8504": ""}


def test_who_is_about_to_restart_gets_no_new_visitor_and_keeps_its_own() -> None:
    text = configuration(proxy(leaving=frozenset({1})))
    assert group(text, "new") == {"8502": "", "8503": "down", "8504": ""}
    assert group(text, "process_1") == group(configuration(proxy()), "process_1")


@pytest.mark.parametrize("n", [1, 3])
def test_somebody_is_left_for_new_visitors(n: int) -> None:
    text = configuration(proxy(n, leaving=frozenset(range(n))))
    assert "down" not in group(text, "new").values()


def test_a_file_as_large_as_is_allowed_and_one_megabyte_more_may_pass() -> None:
    assert "client_max_body_size 6m;" in configuration(proxy(max_upload_mb=5))


def test_the_log_says_nothing_that_a_visitor_wrote() -> None:
    text = configuration(proxy())
    (form,) = re.findall(r"log_format (.*?);", text, re.DOTALL)
    assert set(re.findall(r"\$(\w+)", form)) == SAID
    assert text.count("access_log ") == 1
    assert "error_log stderr emerg;" in text  # anything less quotes the request


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/", "/"),
        ("/meaning", "/meaning"),
        ("/meaning/", "/meaning"),
        ("/_stcore/upload_file/4f0c/a1", "/_stcore/upload_file"),
        ("/export/abcdefghijklmnop.parquet", "/export"),
        ("/media/0a1b.csv", "/media"),
        ("/meanings", "other"),
        ("/I love my pet python", "other"),
        ("/_stcore/whatever", "other"),
        ("/home\n/secret", "other"),
    ],
)
def test_a_place_is_one_of_the_apps_own(path: str, place: str) -> None:
    found = re.search(r"map \$uri \$place {(.*?)\n    }", configuration(proxy()), re.DOTALL)
    assert found is not None
    rules = re.findall(r'"(~?)(\S+)" "(\S+)";', found[1])
    assert len(rules) == 3
    said = "other"
    for is_pattern, form, value in reversed(rules):
        match = re.search(form.replace("(?<", "(?P<"), path) if is_pattern else path == form
        if match:
            said = match[value[1:]] if is_pattern and not isinstance(match, bool) else value
    assert said == place


def test_a_cookie_is_written_where_it_does_not_name_who_answered() -> None:
    text = configuration(proxy())
    found = re.findall(rf'"~(\S+)" "({COOKIE}=\d); Path=/; HttpOnly; SameSite=Lax\$secure";', text)
    written = {
        (answered, had): [cookie for form, cookie in found if re.search(form, f"{answered}:{had}")]
        for answered in ("", "0", "2")
        for had in ("", "0", "2", "02", "x")
    }
    for (answered, had), cookies in written.items():
        is_wanted = bool(answered) and had != answered
        assert cookies == ([f"{COOKIE}={answered}"] if is_wanted else [])


def test_who_answered_is_the_last_of_those_that_were_asked() -> None:
    text = configuration(proxy(2))
    rules = re.findall(r'"~(\S*\[ ,\]\S*)" (\d);', text)

    def answered(addresses: str) -> list[str]:
        return [number for form, number in rules if re.search(form, addresses)]

    assert answered("127.0.0.1:8502") == ["0"]
    assert answered("127.0.0.1:8502, 127.0.0.1:8503") == ["1"]
    assert answered("127.0.0.1:85021") == answered("") == []


def test_all_of_it_is_filled_in() -> None:
    assert not re.findall(r"@[A-Z]+@", configuration(proxy()))
