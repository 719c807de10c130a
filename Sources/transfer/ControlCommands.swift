import ArgumentParser
import TransferCore
import TransferQueue

/// `BATCH`, `BATCH/JOB` or `--all`.
struct Target: ParsableArguments {
    @Argument(help: ArgumentHelp("Batches, or single jobs of them.", valueName: "batch[/job]"))
    var names: [String] = []

    @Flag(help: "Every batch.")
    var all = false

    @OptionGroup var state: StateOptions

    mutating func validate() throws {
        if names.isEmpty, !all { throw ValidationError("name a batch or BATCH/JOB, or say --all") }
        if all, !names.isEmpty { throw ValidationError("--all goes without names") }
    }

    func ask(_ verb: QueueVerb, past: String) throws {
        let remote = try Composition.remote(state: state.state)
        let batches = try remote.statuses().map(\.name)
        for name in all ? batches : names {
            let (batch, job) = Self.split(name, batches)
            do {
                switch try remote.ask(verb, batch: batch, job: job) {
                case .applied(let jobs): print("\(name): \(jobs) \(jobs == 1 ? "job" : "jobs") \(past)")
                case .handed(let pid): print("\(name): \(past) by process \(pid), which runs it")
                }
            } catch let error as TransferError {
                throw Failure(.wrongUsage, error.message)
            }
        }
    }

    /// A batch's name may have slashes itself (it can be a path): the longest known one counts.
    static func split(_ name: String, _ batches: [String]) -> (batch: String, job: String?) {
        if batches.contains(name) { return (name, nil) }
        let batch = batches.filter { name.hasPrefix($0 + "/") }.max { $0.count < $1.count }
        if let batch { return (batch, String(name.dropFirst(batch.count + 1))) }
        guard let slash = name.firstIndex(of: "/"), slash > name.startIndex else { return (name, nil) }
        return (String(name[..<slash]), String(name[name.index(after: slash)...]))
    }
}

struct Pause: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Hold jobs; what they have stays and they go on from there.")
    @OptionGroup var target: Target
    func run() throws { try target.ask(.pause, past: "paused") }
}

struct Resume: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Let paused jobs go on.")
    @OptionGroup var target: Target
    func run() throws { try target.ask(.resume, past: "resumed") }
}

struct Cancel: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "End jobs for good; what they wrote stays.")
    @OptionGroup var target: Target
    func run() throws { try target.ask(.cancel, past: "cancelled") }
}

struct Retry: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Give failed jobs, and those that wait for their next attempt, a fresh start.",
        discussion: "Where nobody runs the batch, transfer run goes on with it.")
    @Flag(help: "Only jobs that failed or were skipped.")
    var failed = false
    @OptionGroup var target: Target
    func run() throws { try target.ask(failed ? .retryFailed : .retry, past: "ready again") }
}
