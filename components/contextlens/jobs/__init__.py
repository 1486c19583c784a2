"""Background work, one system for all of it: loads, maps, indexing, reports. Imports no streamlit.

    MAPS = JobKind("maps", n_at_once=2, n_large=1, large_seconds=10, forgotten_seconds=300)

    jobs = Jobs(max_bytes=200_000_000)
    points = Task(("points", "abc"), POINTS, work=gather, size=4)
    task = Task(("map", "abc", 7), MAPS, work=place, size=20, after=points, split=0.2)

    me = Visitor("session 1")
    job = jobs.start(task, me)          # the same key while under way: the same job
    in_words(job.poll(me))              # "Reading 600 texts…"; each look renews the wait
    job.cancel(me)                      # returns at once; points that others want go on
    job.result()                        # once job.done()

`gather(report)` and `place(report, points)` run in threads and call `report(stage, share)`, which
raises an exception once the result is no longer wanted. Work that holds the interpreter's lock for
long belongs in a process: see `Processes`.
"""

from contextlens.jobs.job import Job, Report
from contextlens.jobs.jobs import Jobs
from contextlens.jobs.processes import OnProgress, Processes, Sentences
from contextlens.jobs.progress import State, Status, in_words, time_left
from contextlens.jobs.task import FORGOTTEN_SECONDS, JobKind, StoppedError, Task, Visitor, page_work

__all__ = [
    "FORGOTTEN_SECONDS",
    "Job",
    "JobKind",
    "Jobs",
    "OnProgress",
    "Processes",
    "Report",
    "Sentences",
    "State",
    "Status",
    "StoppedError",
    "Task",
    "Visitor",
    "in_words",
    "page_work",
    "time_left",
]
