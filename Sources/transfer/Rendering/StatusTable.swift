import TransferCore
import TransferQueue

/// A batch as `transfer status` shows it.
struct BatchStatusRow: Sendable, Hashable {
    let name: String
    /// The state: `running`, `watching`, `stopped`, `finished`, `paused`, `offline`.
    let state: String
    let done: Int
    let total: Int
    let failed: Int
    /// The number of jobs that were skipped because a job that they need failed.
    let skipped: Int
    let cancelled: Int
    let waiting: Int
    /// The rate in bytes a second; `nil` or 0 while nothing moves.
    let rate: Int64?
    let eta: Duration?
    /// The process that runs the batch.
    let pid: Int32?
    /// The number of jobs that have not ended.
    let remaining: Int
    /// The job file.
    let source: String?
    /// The command that continues the batch.
    let command: String?
    /// The reason why the batch is offline.
    let waitingFor: String?
    /// The servers for which some of the remaining jobs wait.
    let hosts: [HostWait]
    /// The time of the first automatic retry of a watched folder's failed files, in milliseconds since 1970.
    let again: Int64?
    /// The state of the watched folder, if the batch has one.
    var folder: FolderStatus?
    /// The time of the next attempt of a waiting job, in milliseconds since 1970.
    var nextAttempt: Int64?
    /// The command that explains its last error.
    var why: String?
    /// The jobs that no worker may do.
    var lacks: [WorkerLack] = []
    /// The hooks (`onFinish`) that could not be notified so far.
    var hooks: [HookTrouble] = []

    init(
        name: String, state: String, done: Int, total: Int, failed: Int, skipped: Int = 0, cancelled: Int = 0,
        waiting: Int, rate: Int64? = nil,
        eta: Duration? = nil, pid: Int32? = nil, remaining: Int = 0, source: String? = nil, command: String? = nil,
        waitingFor: String? = nil, hosts: [HostWait] = [], again: Int64? = nil
    ) {
        self.name = name
        self.state = state
        self.done = done
        self.total = total
        self.failed = failed
        self.skipped = skipped
        self.cancelled = cancelled
        self.waiting = waiting
        self.rate = rate
        self.eta = eta
        self.pid = pid
        self.remaining = remaining
        self.source = source
        self.command = command
        self.waitingFor = waitingFor
        self.hosts = hosts
        self.again = again
    }
}

/// The output of `transfer status`.
enum StatusTable {
    /// Returns the table.
    ///
    /// - Parameters:
    ///   - names: The names of all batches of the queue.
    ///   - width: The columns of the terminal; `nil` for output of any width.
    static func lines(
        _ rows: [BatchStatusRow], charset: Charset, names: BatchNames = BatchNames(), width: Int? = nil
    ) -> [String] {
        guard !rows.isEmpty else { return ["no batches"] }
        // The columns account for every job of a batch; most batches have none of these.
        let hasSkipped = rows.contains { $0.skipped > 0 }
        let hasCancelled = rows.contains { $0.cancelled > 0 }
        var columns: [(title: String, alignment: TextTable.Alignment)] = [
            ("BATCH", .left), ("STATE", .left), ("DONE", .left), ("FAILED", .right),
        ]
        if hasSkipped { columns.append(("SKIPPED", .right)) }
        if hasCancelled { columns.append(("CANCELLED", .right)) }
        var table = TextTable(
            columns + [("WAITING", .right), ("RATE", .left), ("ETA", .left), ("PID", .right)])
        for row in rows {
            var cells = [
                charset.visible(names.short(row.name)), charset.visible(row.state),
                "\(NumberText.grouped(row.done))/\(NumberText.grouped(row.total))\(isLeast(row) ? "+" : "")",
                NumberText.grouped(row.failed),
            ]
            if hasSkipped { cells.append(NumberText.grouped(row.skipped)) }
            if hasCancelled { cells.append(NumberText.grouped(row.cancelled)) }
            table.add(
                cells + [
                    NumberText.grouped(row.waiting), row.rate.map { $0 > 0 ? NumberText.rate($0) : "-" } ?? "-",
                    isLeast(row) ? "-" : row.eta.map { DurationText.clock($0) } ?? "-", row.pid.map { "\($0)" } ?? "-",
                ])
        }
        return table.lines(width: width)
            + rows.flatMap { row in
                let name = names.short(row.name)
                return folder(row, name, charset) + waits(row, name, charset)
                    + (hint(row, name, charset).map { [$0] } ?? [])
            }
    }

    /// Returns whether the counts cover only a part, so that the remaining time is unknown.
    private static func isLeast(_ row: BatchStatusRow) -> Bool { row.folder?.isWaitingLeast ?? false }

    /// Returns a watched folder's last upload, its waiting files, and its last error.
    private static func folder(_ row: BatchStatusRow, _ name: String, _ charset: Charset) -> [String] {
        guard let folder = row.folder else { return [] }
        var lines: [String] = []
        let last = folder.last.map { "last upload \(TimeText.local($0.time)), \($0.path)" } ?? "nothing uploaded yet"
        if folder.waiting > 0 {
            let least = folder.isWaitingLeast ? "at least " : ""
            let files = least + NumberText.count(folder.waiting, "file")
            let oldest = folder.oldest.map { ", the oldest since \(TimeText.local($0.time)) (\($0.path))" } ?? ""
            let verb = folder.waiting == 1 ? "waits" : "wait"
            lines.append("\(last); \(files) \(verb), \(ByteCount.format(folder.waitingBytes))\(oldest)")
        } else {
            lines.append("\(last); nothing waits")
        }
        if folder.unsettled > 0 {
            let files = NumberText.count(folder.unsettled, "uploaded file")
            let verb = folder.unsettled == 1 ? "is" : "are"
            let next = folder.unsettledNext.map { ", the next from \(TimeText.local($0)) on" } ?? ""
            lines.append("\(files) \(verb) to be moved or deleted\(next)")
        }
        if let error = folder.error {
            let time = error.time.map { " \(TimeText.local($0))" } ?? ""
            let path = WatchedFolder.path(ofJob: error.job)
            lines.append("last error\(time), \(path): \(error.message)\(row.why.map { "; \($0)" } ?? "")")
        }
        return lines.map { charset.visible("\(name): \($0)") }
    }

    private static func json(_ folder: FolderStatus, _ object: inout JSONObject) {
        func file(_ key: StaticString, _ file: FolderStatus.File?, _ object: inout JSONObject) {
            guard let file else { return }
            object.object(key) { object in
                object.field("path", file.path)
                object.field("time", time: file.time)
            }
        }
        object.object("folder") { object in
            object.field("path", folder.path)
            object.optional("url", folder.url)
            file("last", folder.last, &object)
            object.field("waiting", folder.waiting)
            object.field("waitingIsLeast", folder.isWaitingLeast)
            object.field("waitingBytes", folder.waitingBytes)
            file("oldest", folder.oldest, &object)
            object.field("unsettled", folder.unsettled)
            object.optional("unsettledNext", folder.unsettledNext.map { TimeStamp.text($0) })
            if let error = folder.error {
                object.object("error") { object in
                    object.field("id", error.job)
                    object.field("code", error.code)
                    object.field("message", error.message)
                    object.optional("time", error.time.map { TimeStamp.text($0) })
                }
            }
        }
    }

    /// The number of servers that are named; further ones are only counted.
    private static let hostsShown = 3

    /// Returns the servers for which jobs wait, and until when.
    private static func waits(_ row: BatchStatusRow, _ name: String, _ charset: Charset) -> [String] {
        var lines = row.hosts.prefix(hostsShown).map { host in
            let count = host.jobs == 1 ? "1 waits" : "\(NumberText.grouped(host.jobs)) wait"
            let next =
                host.remaining > .zero ? "next try \(WaitText.after(host.remaining))" : "tried again now"
            return "\(name): \(count) for \(WaitText.host(host.origin)) since \(TimeText.local(host.since)): "
                + "\(host.message), \(next)"
        }
        let others = row.hosts.dropFirst(hostsShown)
        if !others.isEmpty {
            let jobs = others.reduce(0) { $0 + $1.jobs }
            let hosts = NumberText.count(others.count, "other host")
            lines.append("\(name): \(NumberText.grouped(jobs)) \(jobs == 1 ? "waits" : "wait") for \(hosts)")
        }
        if row.hosts.isEmpty, let next = row.nextAttempt {
            lines.append("\(name): the next attempt is at \(TimeText.local(next))")
        }
        lines += row.lacks.map { lack in
            "\(name): \(lack.jobs == 1 ? "1 waits" : "\(NumberText.grouped(lack.jobs)) wait") for \(lack.words)"
        }
        return lines.map { charset.visible($0) }
    }

    /// Returns how to continue a batch that no process runs, or when a watched folder retries failed files.
    private static func hint(_ row: BatchStatusRow, _ name: String, _ charset: Charset) -> String? {
        if let again = row.again {
            return charset.visible(
                "\(name): \(NumberText.grouped(row.failed)) failed, tried again from \(TimeText.local(again)) on, or "
                    + "when another file has arrived")
        }
        guard row.pid == nil, row.remaining > 0, let command = row.command else { return nil }
        return charset.visible("\(name): \(NumberText.grouped(row.remaining)) left; continue with: \(command)")
    }

    /// Returns one object a line.
    ///
    /// The members are `batch`, `state`, `done`, `total`, `failed`, `skipped`, `cancelled`, `waiting`, `remaining`, and
    /// where known:
    ///
    /// - `rate` (bytes a second), `eta` (seconds), `pid`, `source`, `waitingFor`, `again` and `nextAttempt` (times);
    /// - `hosts`, the awaited servers (`host`, `waiting`, `since`, `status`, `message`, and `remaining` seconds until
    ///   the next try);
    /// - `lacks`, the tags that no worker has (`tags`, `waiting`, `workers`);
    /// - `folder` of a watched folder (`path`, `url`, `last` and `oldest` with `path` and `time`, `waiting`,
    ///   `waitingBytes`, and `error` with `id`, `code`, `message` and `time`).
    static func json(_ rows: [BatchStatusRow]) -> [String] {
        rows.map { row in
            JSONObject.text { object in
                object.field("batch", row.name)
                object.field("state", row.state)
                object.field("done", row.done)
                object.field("total", row.total)
                object.field("failed", row.failed)
                object.field("skipped", row.skipped)
                object.field("cancelled", row.cancelled)
                object.field("waiting", row.waiting)
                object.field("remaining", row.remaining)
                object.optional("rate", row.rate)
                object.optional("eta", row.eta)
                object.optional("pid", row.pid.map(Int64.init))
                object.optional("source", row.source)
                object.optional("waitingFor", row.waitingFor)
                if !row.hosts.isEmpty {
                    object.objects("hosts", row.hosts) { object, host in
                        object.field("host", WaitText.host(host.origin))
                        object.field("waiting", host.jobs)
                        object.field("since", time: host.since)
                        object.optional("status", host.status.map(Int64.init))
                        object.field("message", host.message)
                        object.field("remaining", host.remaining)
                    }
                }
                if !row.lacks.isEmpty {
                    object.objects("lacks", row.lacks) { object, lack in
                        object.strings("tags", lack.tags.names)
                        object.field("waiting", lack.jobs)
                        object.field("workers", lack.workers)
                    }
                }
                object.optional("again", row.again.map { TimeStamp.text($0) })
                object.optional("nextAttempt", row.nextAttempt.map { TimeStamp.text($0) })
                if let folder = row.folder { json(folder, &object) }
                if !row.hooks.isEmpty { object.objects("hooks", row.hooks) { HookText.members(&$0, $1) } }
            }
        }
    }
}
