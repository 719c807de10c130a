import ArgumentParser
import TransferCore
import TransferQueue

/// The targets of a command: `BATCH`, `BATCH/JOB` or `--all`.
struct Target: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The batches, or single jobs of batches.", valueName: "batch[/job]"),
        completion: BatchCompletion.jobs)
    var names: [String] = []

    @Flag(help: "Apply the command to every batch.")
    var all = false

    @OptionGroup var place: QueuePlaceOptions

    mutating func validate() throws {
        if names.isEmpty, !all { throw ValidationError("name a batch or BATCH/JOB, or say --all") }
        if all, !names.isEmpty { throw ValidationError("--all goes without names") }
    }

    /// Asks a service, where one is named.
    ///
    /// - Returns: Whether a service is named.
    func askService(_ verb: QueueVerb, past: String) async throws -> Bool {
        guard let client = try place.client() else { return false }
        try await ServiceVerbs(client: client).ask(verb, all ? [] : names, past: past)
        return true
    }

    /// Asks the queue.
    ///
    /// - Returns: The batches that no process runs, for which the command was carried out at once.
    @discardableResult
    func ask(_ verb: QueueVerb, past: String) throws -> [String] {
        var done: [String] = []
        let remote = try Composition.remote(place.place())
        let register = try remote.batchRegister()
        let (batches, known) = (register.names, BatchNames(register))
        if all, batches.isEmpty { throw Failure(.wrongUsage, "there is no batch") }
        for name in all ? batches.map(known.short) : names {
            let (batch, job) = try known.split(name)
            guard batches.contains(batch) else { throw place.hint.noBatch(batch, among: known) }
            do {
                switch try remote.ask(verb, batch: batch, job: job) {
                case .applied(let jobs):
                    let hint = try verb.startsJobs && jobs > 0 ? "; " + goesOn(batch, remote) : ""
                    print("\(name): \(NumberText.count(jobs, "job")) \(past)\(hint)")
                    done.append(batch)
                case .handed where place.hint.queue != nil:
                    print("\(name): \(past), also where workers are at it")
                case .handed(let pid): print("\(name): \(past) by process \(pid), which runs it")
                }
            } catch let error as TransferError {
                throw Failure(.wrongUsage, error.message)
            }
        }
        return done
    }

    /// Returns the advice how to continue a batch that no process runs.
    private func goesOn(_ batch: String, _ remote: QueueRemote) throws -> String {
        if place.hint.queue != nil { return "workers continue it" }
        guard let again = try remote.statuses(name: batch).first.flatMap({ RunAgain($0, state: place.state.state) })
        else {
            return batch.hasPrefix("watch:")
                ? "transfer watch continues it" : "\(SameCommand.words) continues it"
        }
        return "\(again.command) continues it"
    }
}

struct Pause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Pause jobs; they keep the bytes that they have, and later continue from there.")
    @OptionGroup var target: Target

    func run() async throws {
        if try await target.askService(.pause, past: "paused") { return }
        try target.ask(.pause, past: "paused")
    }
}

struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Resume paused jobs.")
    @OptionGroup var target: Target

    func run() async throws {
        if try await target.askService(.resume, past: "resumed") { return }
        try target.ask(.resume, past: "resumed")
    }
}

struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Cancel jobs for good; written files stay, and servers are asked to drop incomplete uploads.")
    @OptionGroup var target: Target

    func run() async throws {
        if try await target.askService(.cancel, past: "cancelled") { return }
        let batches = Set(try target.ask(.cancel, past: "cancelled"))
        // The workers of a shared queue notify servers of abandoned uploads themselves.
        guard case .folder(let state) = try target.place.place() else { return }
        let remote = try Composition.remote(state: state)
        try SpoolFolder.sweep(remote, state: state)
        let names = BatchNames(try remote.batchRegister())
        let holding = try batches.sorted().filter { try remote.hasAbandonedUploads(batch: $0) }
        guard !holding.isEmpty else { return }
        let queue = try await Composition.queue(state: state)
        let unreported = try await queue.abandonCancelled(in: holding, within: .seconds(15))
        await queue.close()
        for upload in unreported {
            let name = "\(names.short(upload.batch))/\(upload.job)"
            let lasting = "\(names.lasting(upload.batch))/\(upload.job)"
            StandardError.write(
                "\(name): its server holds part of the upload and could not be asked to drop it: "
                    + "\(upload.reason.message); \(wayOut(of: upload, lasting))\n")
        }
    }

    private func wayOut(of upload: UnreportedAbort, _ name: String) -> String {
        if upload.needsItsJobFile { return "run its job file again and cancel it meanwhile" }
        let again = "\(target.place.hint.command("cancel", name)) tries again"
        if upload.reason.code == .secretMissing { return "with it, \(again)" }
        if upload.reason.status == 401 || upload.reason.status == 403 {
            return "with credentials that it takes, \(again)"
        }
        return again
    }
}

struct Retry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Give failed jobs, and jobs that wait for their next attempt, a fresh start.",
        discussion: "Where no process runs the batch, transfer run continues it.")
    @Flag(help: "Retry only jobs that failed or were skipped.")
    var failed = false
    @OptionGroup var target: Target

    func run() async throws {
        let verb: QueueVerb = failed ? .retryFailed : .retry
        if try await target.askService(verb, past: "ready again") { return }
        try target.ask(verb, past: "ready again")
    }
}

extension QueueVerb {
    /// Whether the command makes jobs start.
    fileprivate var startsJobs: Bool {
        switch self {
        case .resume, .retry, .retryFailed: true
        case .pause, .cancel: false
        }
    }
}
