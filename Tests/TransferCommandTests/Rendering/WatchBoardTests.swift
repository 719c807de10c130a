import Foundation
import Testing
import TransferCore
import TransferQueue
import TransferTestSupport
import TransferWatch

@testable import transfer

/// The reports about watched folders, as lines, as JSON, on the screen and for the service manager.
@Suite struct WatchBoardTests {
    private func notice(
        _ kind: WatchNotice.Kind, after seconds: Double = 0, folder: String = "/srv/out"
    ) -> WatchNotice {
        WatchNotice(time: start + Int64(seconds * 1000), folder: folder, kind: kind)
    }

    private func board(_ kinds: [WatchNotice.Kind]) -> WatchBoard {
        var board = WatchBoard()
        board.receive(notice(.begins(url: "https://files.example/in/{name}")))
        for kind in kinds { board.receive(notice(kind)) }
        return board
    }

    private let since = String(TimeText.local(start).dropFirst(11).prefix(5))
    private let gone = TransferError(.fileMissing, "cannot read /srv/out: no such file or directory")

    @Test func theStatusLineCountsWaitingAndUploadedFiles() {
        let confirmed = WatchNotice.Kind.reported(.confirmed(path: "a", url: "https://files.example/in/a"))
        #expect(board([]).status(at: start) == "/srv/out: nothing waiting, 0 uploaded since \(since)")
        let busy = board([
            .reported(.watch(.rootFound)), .reported(.backlog(waiting: 1204, kept: 3)), confirmed, confirmed,
        ])
        #expect(busy.status(at: start) == "/srv/out: 1,204 files waiting, 2 uploaded since \(since)")
        let lost = board([.reported(.watch(.rootLost(gone)))])
        #expect(lost.status(at: start).hasSuffix("; the folder is not there"))
    }

    @Test func theCountBeginsAnewEachDay() {
        var board = board([.reported(.confirmed(path: "a", url: "u"))])
        let day = 86_400.0
        #expect(board.status(at: start + Int64(day * 1000)) == "/srv/out: nothing waiting, 0 uploaded today")
        board.receive(notice(.reported(.confirmed(path: "b", url: "u")), after: day))
        #expect(board.status(at: start + Int64(day * 1000)) == "/srv/out: nothing waiting, 1 uploaded today")
    }

    @Test func severalFoldersAreCountedTogetherWithTheirWaits() {
        var board = board([.reported(.backlog(waiting: 2, kept: 0))])
        board.receive(notice(.begins(url: "u"), folder: "/b"))
        board.receive(notice(.reported(.backlog(waiting: 1, kept: 0)), folder: "/b"))
        board.receive(notice(.reported(.watch(.rootLost(gone))), folder: "/b"))
        board.receive(event(failure("a@1", notFound), batch: "watch:/srv/out"))
        board.receive(event(.batchWaiting(.network("offline: eth0 no carrier"), transfers: 1), batch: "watch:/b"))
        board.receive(event(failure("other", notFound), batch: "nightly"))
        #expect(
            board.status(at: start)
                == "2 folders: 3 files waiting, 0 uploaded since \(since), 1 failed; /b is not there; offline: eth0 no carrier"
        )
        board.receive(notice(.ended, folder: "/b"))
        #expect(board.folders.map(\.path) == ["/srv/out"])
    }

    private static let limit = TransferError(
        .internalFault, "no watches left; sysctl fs.inotify.max_user_watches=1048576")

    @Test(
        arguments: [
            (.begins(url: "https://h/in/{name}"), "info /srv/out: watching, to https://h/in/{name}"),
            (.reported(.watch(.rootFound)), nil),
            (
                .reported(.paused),
                "warn /srv/out: paused, nothing is uploaded until transfer resume watch:/srv/out"
            ),
            (
                .reported(.retargeted(from: "https://h/before/{name}")),
                "warn /srv/out: its files went to https://h/before/{name} before; what is there is not uploaded again (stop, and transfer forget watch:/srv/out, to upload all anew)"
            ),
            (
                .reported(.watch(.rootLost(TransferError(.fileMissing, "no such folder")))),
                "warn /srv/out: waiting for the folder: no such folder"
            ),
            (.reported(.watch(.rootReturned)), "info /srv/out: the folder is back, reading it from the beginning"),
            (
                .reported(.watch(.overflowed)),
                "warn /srv/out: more happened than the kernel keeps (IN_Q_OVERFLOW): reading the folder anew; fs.inotify.max_queued_events=65536 keeps more"
            ),
            (
                .reported(.watch(.polling(.fileSystem("NFS")))),
                "info /srv/out: read again and again instead of watched: the kernel reports no changes that other machines make on NFS"
            ),
            (
                .reported(.watch(.polling(.limit(limit)))),
                "warn /srv/out: read again and again instead of watched: no watches left; sysctl fs.inotify.max_user_watches=1048576"
            ),
            (
                .reported(.watch(.leftAlone(path: "l", .linkLeadsOutside))),
                "warn /srv/out: l is left alone: a symbolic link that leads out of the folder, or nowhere"
            ),
            (.reported(.watch(.caughtUp(WatchSummary(folders: 1, polledFolders: 0)))), nil),
            (
                .reported(.confirmed(path: "a", url: "https://h/a?sig=secret")),
                "info /srv/out/a: uploaded to https://h/a?sig=***"
            ),
            (.reported(.moved(path: "a", to: "/d/a")), nil), (.reported(.deleted(path: "a")), nil),
            (
                .reported(.stays(path: "a", limit, again: nil)),
                "error /srv/out/a: stays where it is: no watches left; sysctl fs.inotify.max_user_watches=1048576"
            ),
            (.reported(.backlog(waiting: 1, kept: 0)), nil), (.ended, "info /srv/out: no longer watched"),
        ] as [(WatchNotice.Kind, String?)])
    func aNoticeHasALineWhenItIsNew(_ kind: WatchNotice.Kind, _ line: String?) {
        let made = WatchText.line(notice(kind), verbose: false, receipt: nil).map { "\($0.level.name) \($0.text)" }
        #expect(made == line)
    }

    @Test func theFinalReportNamesFailedAndRemainingFiles() {
        var board = WatchBoard()
        board.receive(notice(.begins(url: "https://files.example/in/{name}")))
        let failure = JobFailure(
            batch: "watch:/srv/out", job: "a@1", error: TransferError(.httpStatus, "403 Forbidden"), attempts: 1,
            host: nil)
        board.receive(event(.failed(failure), batch: "watch:/srv/out"))
        board.receive(notice(.reported(.confirmed(path: "b", url: "https://files.example/in/b"))))
        for _ in 0..<2 {
            board.receive(notice(.reported(.stays(path: "b", TransferError(.fileAccess, "not a folder"), again: nil))))
        }
        #expect(
            board.folders.map(\.stoppedLine) == [
                "/srv/out: stopped, 1 uploaded, 1 failed (transfer status watch:/srv/out --failed lists them), "
                    + "1 not moved or deleted, nothing else left"
            ])
    }

    @Test func theManagerGetsTheTimeOfTheNextRetry() {
        var board = WatchBoard()
        board.receive(notice(.begins(url: "https://files.example/in/{name}")))
        for (job, again) in [("a@1", 120), ("b@2", 60)] as [(String, Int)] {
            let failure = JobFailure(
                batch: "watch:/srv/out", job: job, error: TransferError(.httpStatus, "403 Forbidden"), attempts: 1,
                host: "files.example", again: .seconds(again))
            board.receive(event(.failed(failure), batch: "watch:/srv/out"))
        }
        let when = TimeText.local(start + 60_000).dropFirst(11).prefix(5)
        #expect(board.status(at: start).contains(", 2 failed, tried again from \(when) on"))
    }

    @Test func aRetriedFileIsNoLongerAFailure() {
        var board = WatchBoard()
        board.receive(notice(.begins(url: "https://files.example/in/{name}")))
        for job in ["a@1", "b@2", "b@2"] {
            let failure = JobFailure(
                batch: "watch:/srv/out", job: job, error: TransferError(.checksumMismatch, "other bytes"),
                attempts: 1, host: nil)
            board.receive(event(.failed(failure), batch: "watch:/srv/out"))
            let path = WatchedFolder.path(ofJob: job)
            board.receive(notice(.reported(.stays(path: path, failure.error, again: nil))))
        }
        #expect(board.folders[0].failed.count == 2 && board.folders[0].stuck.count == 2)
        // The file is uploaded once more, as a new version.
        let start = JobStart(isUpload: true, url: "https://files.example/in/a", offset: 0, attempt: 1)
        for job in ["a@1", "b@3"] { board.receive(event(.started(job: job, start), batch: "watch:/srv/out")) }
        for path in ["a", "b"] {
            board.receive(notice(.reported(.confirmed(path: path, url: "https://files.example/in/" + path))))
        }
        #expect(board.folders.map(\.stoppedLine) == ["/srv/out: stopped, 2 uploaded, nothing left"])
    }

    @Test func aLineIsJSONWithTheFolderAndItsBatch() {
        let line = WatchLines.line(notice(.reported(.confirmed(path: "a\"b", url: "https://u:p@h/a"))))
        #expect(
            line
                == #"{"event":"watch.confirmed","time":"\#(TimeStamp.text(start))","batch":"watch:/srv/out","folder":"/srv/out","path":"a\"b","url":"\#(Redaction.url("https://u:p@h/a"))"}"#
        )
        #expect(!line.contains("u:p"))
    }

    @Test func theLogHasTheFileWithItsSizeAndNoJobsOfTheFolder() throws {
        let (errors, output) = (Sink(), Sink())
        let reporter = try Reporter(
            .init(json: .events), terminal: errors.terminal(), standardOutput: output.terminal(), now: { start })
        var upload = receipt("a@1", isUpload: true)
        upload.path = "/srv/out/a"
        reporter.receive(notice(.begins(url: "https://files.example/in/{name}")))
        reporter.receive(event(.batchStarted(totals(jobs: 0)), batch: "watch:/srv/out"))
        reporter.receive(event(.finished(upload), batch: "watch:/srv/out"))
        reporter.receive(notice(.reported(.confirmed(path: "a", url: "https://files.example/in/a"))))
        reporter.receive(event(.batchProgress(progress(totals(jobs: 1))), after: 100, batch: "watch:/srv/out"))
        reporter.finish()
        let time = TimeText.local(start)
        #expect(
            errors.contents() == """
                \(time) info /srv/out: watching, to https://files.example/in/{name}
                \(time) info /srv/out/a: uploaded, 4.00 KiB in 2 s, to https://files.example/in/a
                \(time) info /srv/out: stopped, 1 uploaded, nothing left

                """)
        let names = output.contents().split(separator: "\n").compactMap { $0.firstMatch(of: /"event":"([a-z.]+)"/)?.1 }
        #expect(names == ["watch.started", "batch.started", "job.finished", "watch.confirmed", "batch.progress"])
    }

    @Test func theJournalGetsPriorities() throws {
        let errors = Sink()
        let journal = errors.terminal(["JOURNAL_STREAM": "8:42"])
        let reporter = try Reporter(.init(), terminal: journal, standardOutput: Sink().terminal())
        reporter.receive(notice(.begins(url: "u")))
        reporter.receive(notice(.reported(.watch(.rootLost(gone)))))
        #expect(
            errors.contents()
                == "<6>/srv/out: watching, to u\n<4>/srv/out: waiting for the folder: \(gone.message)\n")
    }

    @Test func theScreenHasALineForTheFolder() {
        var screen = ProgressScreen()
        screen.receive(event(.batchStarted(totals(jobs: 0)), batch: "watch:/srv/out"))
        screen.board = board([
            .reported(.watch(.rootFound)), .reported(.backlog(waiting: 3, kept: 1)),
            .reported(.confirmed(path: "a", url: "u")),
        ])
        screen.receive(
            event(
                .started(job: "b@2", JobStart(isUpload: true, url: "u", offset: 0, attempt: 1)), batch: "watch:/srv/out"
            ))
        let busy = progress(totals(jobs: 3, bytes: 2048), active: 1, rate: 1024)
        screen.receive(event(.batchProgress(busy), batch: "watch:/srv/out"))
        let lines = screen.frame(now: start, width: 120, height: 20, charset: .utf8).text.split(separator: "\n")
        #expect(
            lines.first
                == "/srv/out -> https://files.example/in/{name}: 3 files waiting, 1 uploaded, 1 kept for a while")
        #expect(lines.last == "1 file uploaded   2.00 KiB   1.00 KiB/s   1 active")
    }

    @Test func theScreenCountsJobsWithoutTheFolders() {
        var screen = ProgressScreen()
        screen.receive(event(.batchStarted(totals(jobs: 4, kept: 2))))
        screen.receive(event(.batchStarted(totals(jobs: 100)), batch: "watch:/srv/out"))
        let lines = screen.frame(now: start, width: 80, height: 20, charset: .utf8).text.split(separator: "\n")
        #expect(lines.first == "nightly: 4 jobs, 2 done by an earlier run" && lines.last == "2 of 4   50%")
    }

    @Test(arguments: [
        (["watch", "d", "--then", "move", "/x y"], ["watch", "d", "--then=move /x y"]),
        (["watch", "--then", "move"], ["watch", "--then", "move"]),
        (["watch", "--then", "delete", "d"], ["watch", "--then", "delete", "d"]),
        (["run", "--json=progress", "x"], ["run", "--json-progress", "x"]),
        (["put", "--", "--then", "move", "x"], ["put", "--", "--then", "move", "x"]),
    ])
    func valuesOfTwoWordsAreJoined(_ arguments: [String], _ normalized: [String]) {
        #expect(CommandArguments.normalized(arguments) == normalized)
    }
}
