import ArgumentParser
import Glibc
import TransferCore
import TransferEventLoop
import TransferQueue

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the state of batches and watched folders, also of those that other processes run.")

    @Argument(help: "The batch to show; all batches by default.", completion: BatchCompletion.kind)
    var batch: String?

    @Flag(help: "List the jobs that failed for good.")
    var failed = false

    @Flag(help: "Show a line for each job; with --failed, only for jobs that failed for good.")
    var jobs = false

    @Flag(help: "With --failed: write the jobs as a job file of lines, which transfer run accepts as it is.")
    var list = false

    @Flag(help: "Show the state again every second.")
    var follow = false

    @Flag(help: "Write JSON to standard output.")
    var json = false

    @OptionGroup var place: QueuePlaceOptions

    func validate() throws {
        if case .service = try place.place(), failed || jobs || list || follow {
            throw ValidationError("--server shows the batches: the service's page and its API have the jobs")
        }
        if list, !failed { throw ValidationError("--list goes with --failed") }
        if list, json || follow { throw ValidationError("--list is a job file: it goes without --json and --follow") }
        if jobs, list { throw ValidationError("--jobs shows the jobs, and --list is a job file: take one of them") }
        if jobs, follow { throw ValidationError("--jobs goes without --follow") }
    }

    func run() async throws {
        if let client = try place.client() {
            return try await ServiceVerbs(client: client).status(batch, json: json)
        }
        guard let remote = try Composition.remote(existing: place.place()) else {
            if let batch { throw place.hint.noBatch(batch) }
            guard !json, !jobs, !list else { return }
            for line in StatusTable.lines([], charset: .utf8) + UnitQueues.hints(place.hint) { print(line) }
            return
        }
        try show(remote)
        guard follow else { return }
        let loop = try EventLoop(name: "status")
        for await _ in Ticks.every(.seconds(1), on: loop) {
            if !json { print("\u{1B}[H\u{1B}[J", terminator: "") }
            try show(remote)
            // The reader of the output may have ended.
            guard StandardOutput.flush() else { return }
        }
    }

    private func show(_ remote: QueueRemote) throws {
        let register = try remote.batchRegister()
        let names = BatchNames(register)
        let name = try batch.flatMap { text throws(Failure) in try names.find(text) }
        if let batch, name == nil { throw place.hint.noBatch(batch, among: names) }
        let terminal = Terminal(STDOUT_FILENO, environment: Composition.environment)
        let (charset, width) = (terminal.charset, terminal.tableWidth)
        let shown = name.map { [$0] } ?? register.names
        if jobs {
            let list = JobList(batches: shown, failed: failed, remote: remote)
            return try json ? list.printJSON() : list.printTable(terminal, naming: batch == nil ? names : nil)
        }
        let statuses = try remote.statuses(name: name)
        if list { return try FailedList(statuses, remote).write() }
        if failed { return try showFailed(remote, statuses, names, terminal) }
        let rows = try statuses.map { status in
            var row = StatusText.row(status, hint: place.hint)
            row.hooks = try remote.hookTroubles(batch: status.name)
            return row
        }
        let lines =
            json
            ? StatusTable.json(rows) : StatusTable.lines(rows, charset: charset, names: names, width: width)
        for line in lines { print(line) }
        // Root's own batches are no reason to hide those of the units.
        let isOverview = rows.isEmpty || batch == nil && !follow
        if isOverview, !json { for line in UnitQueues.hints(place.hint) { print(line) } }
        let workers = try WorkerTable(remote.workers())
        for line in json ? workers.json : workers.lines(charset, width: width) { print(line) }
        if !json { for line in rows.flatMap({ HookText.lines($0, names, charset) }) { print(line) } }
    }

    private func showFailed(
        _ remote: QueueRemote, _ statuses: [BatchStatus], _ names: BatchNames, _ terminal: Terminal
    ) throws {
        var all: [FailedJobRow] = []
        for status in statuses {
            let rows = try remote.failures(batch: status.name).map { StatusText.row($0, of: status) }
            if json { for line in FailedTable.json(batch: status.name, rows) { print(line) } }
            // The names are those that `why` and `retry` accept.
            all += batch == nil ? rows.map { $0.named("\(names.short(status.name))/\($0.job)") } : rows
        }
        guard !json else { return }
        for line in FailedTable.lines(all, charset: terminal.charset, width: terminal.tableWidth) { print(line) }
    }
}

struct Wait: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Wait for the end of a batch that another process runs; the exit status is that of its run.")

    @Argument(help: "The batch to wait for.", completion: BatchCompletion.kind)
    var batch: String

    @OptionGroup var place: QueuePlaceOptions

    func run() async throws {
        if let client = try place.client() {
            let reading = RemoteReading(client: client, hint: place.hint)
            ExitStatus.exit(try Self.status(try await reading.wait(batch), of: batch))
        }
        let (hint, queue) = (place.hint, try place.place())
        guard let remote = try Composition.remote(existing: queue) else { throw hint.noBatch(batch) }
        let names = BatchNames(try remote.batchRegister())
        guard let name = try names.find(batch) else { throw hint.noBatch(batch, among: names) }
        if case .database(let address) = queue {
            ExitStatus.exit(try await FleetWatch(address, remote, batch: name).follow { _ in })
        }
        guard let status = try await remote.wait(batch: name) else { throw hint.noBatch(batch, among: names) }
        ExitStatus.exit(
            try Self.status((status.remaining, status.failed + status.skipped + status.cancelled), of: batch))
    }

    /// Returns the exit status of a batch.
    ///
    /// - Parameter counts: The number of jobs that have not ended, and of those that did not complete.
    private static func status(
        _ counts: (remaining: Int, incomplete: Int), of batch: String
    ) throws(Failure) -> ExitStatus {
        if counts.remaining > 0 { throw Failure(.workLeft, "\(batch): no process runs it, \(counts.remaining) left") }
        return counts.incomplete > 0 ? .someFailed : .complete
    }
}

struct Forget: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Forget a batch, or all batches that ended more than 30 days ago; their files stay.")

    @Argument(help: "The batch to forget, whether or not it ended.", completion: BatchCompletion.kind)
    var batch: String?

    @Option(
        name: .customLong("older-than"),
        help: ArgumentHelp(
            "Forget batches that ended longer ago than this.", valueName: "30d"),
        transform: TimeSpan.read)
    var olderThan: TimeSpan?

    @OptionGroup var place: QueuePlaceOptions

    func run() async throws {
        let age = olderThan?.duration ?? .seconds(30 * 86_400)
        let (hint, queue) = (place.hint, try place.place())
        if let client = try place.client() {
            return try await RemoteReading(client: client, hint: hint).forget(batch, olderThan: age)
        }
        guard let remote = try Composition.remote(existing: queue) else {
            if let batch { throw hint.noBatch(batch) }
            return
        }
        let known = BatchNames(try remote.batchRegister())
        let name = try batch.flatMap { text throws(Failure) in try known.find(text) }
        if let batch, name == nil { throw hint.noBatch(batch, among: known) }
        let names = try remote.forget(
            name: name, endedBefore: name == nil ? WallClock.milliseconds - age.inMilliseconds : nil)
        if case .folder(let state) = queue { try SpoolFolder.sweep(remote, state: state) }
        if let batch, let name, names.isEmpty {
            guard let status = try remote.statuses(name: name).first else { throw hint.noBatch(batch) }
            let isWatch = WatchBatch.folder(of: name) != nil
            let who = status.pid.map { "process \($0)" } ?? "a process"
            throw Failure(
                .wrongUsage,
                "\(batch) is being \(isWatch ? "watched" : "run") by \(who); \(isWatch ? "stop that" : "cancel it, or stop that,") first"
            )
        }
        for name in names { print("forgotten: \(known.short(name))") }
    }
}
