import Testing
import TransferCore
import TransferQueue

@testable import TransferJobs
@testable import transfer

@Suite struct StatusTableTests {
    @Test func looksAsIntended() {
        let rows = [
            BatchStatusRow(
                name: "nightly", state: "running", done: 142_911, total: 200_000, failed: 3, waiting: 1204,
                rate: Int64(61.7 * mebibyte), eta: .seconds(546), pid: 4121, remaining: 57_086, source: "/etc/n.json"),
            BatchStatusRow(
                name: "field-cam", state: "offline", done: 318, total: 322, failed: 0, waiting: 4, rate: 0, pid: 880,
                remaining: 4),
            BatchStatusRow(
                name: "mirror", state: "stopped", done: 12, total: 40, failed: 1, waiting: 0, remaining: 27,
                source: "/etc/mirror.json", command: "transfer run /etc/mirror.json"),
        ]
        #expect(
            StatusTable.lines(rows, charset: .utf8).joined(separator: "\n") == """
                BATCH      STATE    DONE             FAILED  WAITING  RATE        ETA    PID
                nightly    running  142,911/200,000       3    1,204  61.7 MiB/s  9:06  4121
                field-cam  offline  318/322               0        4  -           -      880
                mirror     stopped  12/40                 1        0  -           -        -
                mirror: 27 left; continue with: transfer run /etc/mirror.json
                """)
        #expect(
            StatusTable.json(rows)[1]
                == #"{"batch":"field-cam","state":"offline","done":318,"total":322,"failed":0,"skipped":0,"cancelled":0,"waiting":4,"#
                + #""remaining":4,"rate":0,"pid":880}"#)
    }

    /// The columns done, failed, skipped, cancelled and left cover all of a batch's jobs.
    @Test func cancelledAndSkippedJobsHaveColumnsWhereThereAreSome() {
        var status = BatchStatus(name: "/etc/mirror.json", source: "/etc/mirror.json")
        (status.total, status.done, status.failed, status.skipped, status.cancelled) = (12, 4, 1, 2, 5)
        let row = StatusText.row(status, hint: CommandHint())
        #expect(
            StatusTable.lines([row], charset: .utf8, names: BatchNames([status.name])).joined(separator: "\n") == """
                BATCH   STATE     DONE  FAILED  SKIPPED  CANCELLED  WAITING  RATE  ETA  PID
                mirror  finished  4/12       1        2          5        0  -     -      -
                """)
        #expect(StatusTable.json([row])[0].contains(#""batch":"/etc/mirror.json""#), "programs get the whole name")
    }

    @Test func aBatchWaitingForTheNetworkIsOffline() {
        var status = BatchStatus(name: "field-cam", source: "/etc/field.json")
        (status.total, status.done, status.remaining) = (322, 318, 4)
        #expect(StatusText.row(status, hint: CommandHint()).state == "stopped")
        status.pid = 880
        let running = StatusText.row(status, hint: CommandHint())
        #expect(running.state == "running" && running.waiting == 0)
        status.waitingFor = "offline: eth0 no carrier"
        let row = StatusText.row(status, hint: CommandHint())
        #expect(row.state == "offline" && row.waiting == 4)
        #expect(StatusTable.json([row])[0].contains(#""waitingFor":"offline: eth0 no carrier""#))
    }

    @Test func awaitedHostsAreReported() {
        var status = BatchStatus(name: "watch:/in", source: nil)
        (status.total, status.remaining, status.waiting, status.pid) = (9, 9, 9, 880)
        func host(_ number: Int, jobs: Int, code: Int? = nil, remaining: Int) -> HostWait {
            HostWait(
                origin: "http://h\(number).example", status: code,
                message: code.map { "\($0) Busy" } ?? "refused", since: 0, remaining: .seconds(remaining), jobs: jobs)
        }
        status.hosts = [
            host(1, jobs: 4, remaining: 3), host(2, jobs: 2, code: 503, remaining: 60), host(3, jobs: 1, remaining: 0),
            host(4, jobs: 1, remaining: 1), host(5, jobs: 1, remaining: 1),
        ]
        let row = StatusText.row(status, hint: CommandHint())
        let since = TimeText.local(0)
        #expect(row.state == "watching")
        #expect(
            Array(StatusTable.lines([row], charset: .utf8).dropFirst(2)) == [
                "watch:/in: 4 wait for h1.example since \(since): refused, next try in 3 s",
                "watch:/in: 2 wait for h2.example since \(since): 503 Busy, next try in 1m 00s",
                "watch:/in: 1 waits for h3.example since \(since): refused, tried again now",
                "watch:/in: 2 wait for 2 other hosts",
            ])
        #expect(
            StatusTable.json([row])[0].contains(
                #""hosts":[{"host":"h1.example","waiting":4,"since":"\#(TimeStamp.text(0))","message":"refused","#
                    + #""remaining":3},{"host":"h2.example","waiting":2,"since":"\#(TimeStamp.text(0))","#
                    + #""status":503,"message":"503 Busy","remaining":60}"#))
    }

    @Test func failedJobsAreListed() {
        let rows = [
            FailedJobRow(
                job: "images/1.jpg", code: "httpStatus", reason: "404 Not Found", status: 404, host: "cdn.example",
                attempts: 1),
            FailedJobRow(
                job: "日本\n", code: "fileAccess", reason: "cannot write /srv/x: permission denied", attempts: 10),
        ]
        #expect(
            FailedTable.lines(rows, charset: .utf8).joined(separator: "\n") == #"""
                JOB           HOST         ATTEMPTS  REASON
                images/1.jpg  cdn.example         1  404 Not Found
                日本\n        -                  10  cannot write /srv/x: permission denied
                """#)
        #expect(
            FailedTable.json(batch: "n", rows)[0]
                == #"{"batch":"n","id":"images/1.jpg","code":"httpStatus","message":"404 Not Found","status":404,"#
                + #""host":"cdn.example","attempts":1}"#)
    }

    @Test func anEmptyStatusIsReportedInWords() {
        #expect(StatusTable.lines([], charset: .utf8) == ["no batches"])
        #expect(FailedTable.lines([], charset: .utf8) == ["no failed jobs"])
    }
}
