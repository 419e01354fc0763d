"""The published tables of MLCommons' results repositories on GitHub.

Belongs here: which repositories and files are asked for, in what order, and what serves where one
cannot be had. How an address is fetched is the business of ``http``, how bytes are kept that of
``snapshots``; whether a table's rows are any good is decided by ``normalise``.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, TypeVar

from pipeline.errors import UnusableCall
from pipeline.rounds import REPOSITORY, new_round
from pipeline.settings import Settings
from pipeline.sources.files import (
    MAX_TABLE_BYTES,
    Archive,
    Kind,
    SourceFile,
    archive_url,
    table_url,
)
from pipeline.sources.http import (
    BadAnswer,
    Http,
    Response,
    Unreachable,
    origin,
)
from pipeline.sources.snapshots import Snapshot, Snapshots

ORGANISATION = "mlcommons"

TABLES = ("summary_results.json", "summary.json")
"""The official table, and the submission checker's, which serves where the first is not there."""

WORKERS = 6
"""GitHub allows 100 requests at once; the whole survey is some 40."""

MAX_PAGES = 20
"""Of 100 repositories each; the organisation has some 200."""

LOOK_PATIENCE_SECONDS = 15.0
"""Of one request of ``commits``: who looks in every day can look again, and is given a minute."""

MAX_API_BYTES = 16 * 2**20
"""A page of 100 repositories has 0.6 MB."""

_COMMIT = re.compile(r"[0-9a-f]{40}")
_NEXT_PAGE = re.compile(r'<([^<>]+)>\s*;[^,<]*\brel="?next\b')

_CHECK_API = "Check ROUNDTABLE_GITHUB_API, or run again later."

T = TypeVar("T")


@dataclass(frozen=True)
class ResultRepository:
    """A results repository seen upstream.

    ``commit`` is None where it was not asked for or not told. ``table`` is the name of its table;
    None means "archives only", unless ``GitHub.stale`` says that the round could not be fetched.
    """

    name: str
    round_key: str
    commit: str | None
    table: str | None


@dataclass(frozen=True)
class _Table:
    """A table as it is kept."""

    name: str
    snapshot: Snapshot
    content: bytes


@dataclass(frozen=True)
class _Outcome:
    """What became of one repository; with a problem, the table is the last good one, if any."""

    repository: str
    commit: str | None = None
    table: _Table | None = None
    problem: str | None = None

    @property
    def round_key(self) -> str:
        return _round_key(self.repository)


class GitHub:
    """The tables that ``survey`` found. It does all the network work: call it first, and once.

    Who wants to know only whether anything has changed calls ``commits`` instead.
    """

    def __init__(
        self, settings: Settings, say: Callable[[str], object] = lambda line: None
    ) -> None:
        """Take the settings, and what to tell of each round as it comes in."""
        self._settings = settings
        self._say = say
        self._snapshots = Snapshots(settings.home)
        self._files: dict[str, SourceFile] = {}
        self._repositories: list[ResultRepository] = []
        self._unlisted: Unreachable | None = None
        self.stale: dict[str, str] = {}
        """Why a round is not as upstream has it, by key; also rounds of which nothing is kept."""

    def survey(
        self,
        *,
        archives: Callable[[str], bool] = lambda round_key: False,
        only: str | None = None,
    ) -> None:
        """Ask for every round's table; where that fails, the last good one serves.

        Of rounds that have no table in any case, those whose ``archives`` are wanted are asked for
        their commit. ``only`` is the one round that is asked for, as if there were no other.

        Raises:
            Unreachable: nothing can be had, neither now nor from an earlier survey.
            SnapshotsUnwritable: what was fetched cannot be kept.
            UnusableCall: a service address or the token cannot be used.
        """
        with closing(Http()) as http:
            service = _Service(http, self._settings)
            try:
                listed = [name for name in service.repositories() if _is_asked(name, only)]
                problem = "its repository is no longer listed"
            except Unreachable as error:
                self._unlisted = error
                listed, problem = [], error.problem
            with ThreadPoolExecutor(WORKERS) as pool:
                for outcome in pool.map(partial(self._ask, service, archives), listed):
                    self._take(outcome)
                    self._repositories.append(_seen(outcome))
        for name in self._snapshots.repositories():
            if name not in listed and REPOSITORY.fullmatch(name) and _is_asked(name, only):
                self._take(_Outcome(name, table=self._last_good(name), problem=problem))
        self._refuse_nothing()

    def commits(self) -> dict[str, str | None]:
        """Return the newest commit of every results repository, by round; ask for nothing else.

        It is None where a repository does not tell it; an empty one has none.

        Raises:
            Unreachable: the repositories cannot be listed, or none of them tells its commit.
            UnusableCall: the service address or the token cannot be used.
        """
        with closing(Http(LOOK_PATIENCE_SECONDS)) as http:
            service = _Service(http, self._settings)
            listed = service.repositories()
            with ThreadPoolExecutor(WORKERS) as pool:
                heads = list(pool.map(partial(_head, service), listed))
        told = [head for head in heads if isinstance(head, str)]
        if not told:
            problems = (head for head in heads if isinstance(head, Unreachable))
            nothing = BadAnswer(self._settings.github_api, "lists no results", _CHECK_API)
            raise next(problems, nothing)
        return {
            _round_key(name): head if isinstance(head, str) else None
            for name, head in zip(listed, heads, strict=True)
        }

    def round_keys(self) -> Sequence[str]:
        """Return the rounds that have a repository, in order; some of them have no table."""
        keys = self._files.keys() | {seen.round_key for seen in self._repositories}
        return sorted(keys, key=lambda key: new_round(key).order)

    def files(self, round_key: str) -> Sequence[SourceFile]:
        """Return the round's table, in a list of one, or nothing."""
        return [self._files[round_key]] if round_key in self._files else []

    def archive(self, round_key: str) -> Archive | None:
        """Return the archive of the round's newest commit; None where that is not known."""
        seen = next((each for each in self._repositories if each.round_key == round_key), None)
        if seen is None or seen.commit is None:
            return None
        path = f"{ORGANISATION}/{seen.name}/tar.gz/{seen.commit}"
        return Archive(
            round_key=round_key,
            name=f"{seen.name}.tar.gz",
            url=archive_url(seen.name),
            origin="github",
            identity=seen.commit,
            commit=seen.commit,
            open=lambda: _download(f"{self._settings.github_codeload}/{path}"),
        )

    def fingerprint(self) -> str:
        """Return a digest over every table's hash and over what is stale and why."""
        hashes = {key: file.sha256 for key, file in self._files.items()}
        return hashlib.sha256(json.dumps([hashes, self.stale], sort_keys=True).encode()).hexdigest()

    def repositories(self) -> Sequence[ResultRepository]:
        """Return every results repository seen upstream, in order of rounds.

        Raises:
            Unreachable: the repositories could not be listed.
        """
        if self._unlisted:
            raise self._unlisted
        return self._repositories

    def _ask(
        self, service: "_Service", archives: Callable[[str], bool], repository: str
    ) -> _Outcome:
        # No training round has a table file.
        has_table = _round_key(repository).startswith("inference-")
        if not (has_table or archives(_round_key(repository))):
            return _Outcome(repository)
        commit = None
        try:
            commit = service.head(repository)
            table = self._current(service, repository, commit) if has_table else None
        except Unreachable as error:
            return _Outcome(repository, commit, self._last_good(repository), error.problem)
        if table is None and (last := self._last_good(repository)):
            return _Outcome(repository, commit, last, "its table is no longer there")
        return _Outcome(repository, commit, table)

    def _current(self, service: "_Service", repository: str, commit: str) -> _Table | None:
        """Return the repository's table at a commit, or None where it has none.

        A table is asked for even where the commit is the one it was fetched at: an ETag costs
        little, and bytes that were kept wrongly would stay so for good.
        """
        for name in TABLES:
            if self._snapshots.is_absent(repository, name, commit):
                continue
            kept = self._snapshots.find(repository, name)
            answer = service.table(repository, commit, name, kept[0].etag if kept else None)
            if answer.status == 200:
                snapshot = self._snapshots.keep(
                    repository,
                    name,
                    answer.content,
                    url=table_url(repository, name),
                    commit=commit,
                    etag=answer.etag,
                )
                return _Table(name, snapshot, answer.content)
            if kept and answer.status == 304:
                return _Table(name, self._snapshots.confirm(repository, name, commit), kept[1])
            self._snapshots.keep_absence(repository, name, commit)
        return None

    def _last_good(self, repository: str) -> _Table | None:
        kept = [(name, self._snapshots.find(repository, name)) for name in TABLES]
        tables = [_Table(name, *found) for name, found in kept if found]
        return max(tables, key=lambda table: table.snapshot.fetched_at, default=None)

    def _take(self, outcome: _Outcome) -> None:
        key, table = outcome.round_key, outcome.table
        if outcome.problem:
            self.stale[key] = outcome.problem
        if table:
            self._files[key] = SourceFile(
                round_key=key,
                kind=Kind.TABLE,
                name=f"{key}.{table.name}",
                url=table.snapshot.url,
                content=table.content,
                sha256=table.snapshot.sha256,
                origin="github",
                commit=table.snapshot.commit,
                etag=table.snapshot.etag,
                fetched_at=table.snapshot.fetched_at,
                stale_reason=outcome.problem,
            )
        serves = table.name if table else "no table"
        self._say(f"{key}: {serves}" + (f", stale: {outcome.problem}" if outcome.problem else ""))

    def _refuse_nothing(self) -> None:
        if self._files:
            return
        if self._unlisted:
            raise self._unlisted
        if self.stale:
            problem = next(iter(self.stale.values()))
            raise Unreachable(self._settings.github_raw, problem, "Run again later.")


class _Service:
    """What is asked of GitHub, and what its answers must look like."""

    def __init__(self, http: Http, settings: Settings) -> None:
        self._http = http
        self._api = settings.github_api
        self._raw = settings.github_raw
        self._token = settings.github_token

    def repositories(self) -> list[str]:
        """Return the names of all results repositories, in order of rounds."""
        url = f"{self._api}/orgs/{ORGANISATION}/repos?per_page=100"
        names: set[str] = set()
        for _ in range(MAX_PAGES):
            found, response = self._ask(url, _read_names)
            names |= {name for name in found if REPOSITORY.fullmatch(name)}
            following = _NEXT_PAGE.search(response.headers.get("Link", ""))
            if following is None:
                return sorted(names, key=lambda name: new_round(_round_key(name)).order)
            if not _is_at(following[1], self._api):  # the token must not go there
                raise BadAnswer(url, "continues on another host", _CHECK_API)
            url = following[1]
        raise BadAnswer(url, f"has more than {MAX_PAGES} pages", _CHECK_API)

    def head(self, repository: str) -> str:
        """Return the commit at the tip of a repository's default branch."""
        # One changed file is enough: without per_page GitHub lists 300, with their patches.
        url = f"{self._api}/repos/{ORGANISATION}/{repository}/commits/HEAD?per_page=1"
        return self._ask(url, _read_commit)[0]

    def table(self, repository: str, commit: str, name: str, etag: str | None) -> Response:
        """Return the answer to asking for a table: 200, 304 or 404."""
        url = f"{self._raw}/{ORGANISATION}/{repository}/{commit}/{name}"
        return self._http.get(url, _TableCheck(), limit=MAX_TABLE_BYTES, etag=etag)

    def _ask(self, url: str, read: Callable[[bytes], T]) -> tuple[T, Response]:
        response = self._http.get(
            url, lambda answer: read(answer.content), limit=MAX_API_BYTES, token=self._token
        )
        if response.status != 200:
            raise BadAnswer(url, "not found", _CHECK_API)
        return read(response.content), response


class _TableCheck:
    """Accepts JSON, and other text only where GitHub stands by it.

    A table that is no JSON is for ``normalise`` to report, but a page put in its place on the way
    is not the table: GitHub's raw service sends an ETag with every file, and sends it again.
    """

    def __init__(self) -> None:
        self._refused: tuple[str | None, bytes] | None = None

    def __call__(self, answer: Response) -> None:
        try:
            if isinstance(_parse(answer.content), list | dict):
                return
        except ValueError:
            pass
        refused, self._refused = self._refused, (answer.etag, answer.content)
        is_page = answer.content.lstrip().startswith(b"<")
        if is_page or answer.etag is None or refused != self._refused:
            raise ValueError("no table")


def _head(service: _Service, repository: str) -> str | Unreachable:
    try:
        return service.head(repository)
    except Unreachable as error:
        return error


@contextmanager
def _download(url: str) -> Iterator[BinaryIO]:
    with closing(Http()) as http, http.stream(url) as body:
        yield body


def _is_at(url: str, service: str) -> bool:
    """Whether an address that was sent is one of the service that was asked."""
    try:
        return origin(url) == origin(service)
    except UnusableCall:
        return False


def _seen(outcome: _Outcome) -> ResultRepository:
    table = outcome.table.name if outcome.table else None
    return ResultRepository(outcome.repository, outcome.round_key, outcome.commit, table)


def _is_asked(repository: str, only: str | None) -> bool:
    return only is None or _round_key(repository) == only


def _round_key(repository: str) -> str:
    match = REPOSITORY.fullmatch(repository)
    if match is None:
        raise ValueError(f"{repository!r} is no results repository")
    return f"{match['suite']}-{match['round']}"


def _read_names(content: bytes) -> list[str]:
    page = _parse(content)
    if not isinstance(page, list) or not all(isinstance(entry, dict) for entry in page):
        raise ValueError("no list of repositories")
    return [str(entry.get("name")) for entry in page]


def _read_commit(content: bytes) -> str:
    answer = _parse(content)
    commit = answer.get("sha") if isinstance(answer, dict) else None
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        raise ValueError("no commit")
    return commit


def _parse(content: bytes) -> Any:
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("nested too deeply") from None
