import ArgumentParser
import Glibc
import TransferCore
import TransferEventLoop
import TransferQueue
import TransferReachability

struct Why: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what a job waits for, or how it ended, also for a batch that another process runs.",
        discussion: """
            A job waits for the network (shown with the rule of the job file), a server's Retry-After, the backoff, \
            another job, or a slot. It may also wait for its schedule, a user who paused it, or a process that runs \
            its batch.
            """)

    @Argument(help: ArgumentHelp("The job.", valueName: "batch/job"), completion: BatchCompletion.jobs)
    var name: String

    @Flag(help: "Write JSON to standard output.")
    var json = false

    @OptionGroup var configuration: ConfigurationOptions
    @OptionGroup var place: QueuePlaceOptions

    func run() async throws {
        if let client = try place.client() {
            return try await RemoteReading(client: client, hint: place.hint).why(name, json: json)
        }
        let links = MeteredRule(links: try configuration.load().meteredLinks)
        let remote = try Composition.remote(existing: place.place())
        let names = BatchNames(try remote?.batchRegister() ?? BatchRegister())
        let (batch, job) = try names.split(name)
        guard let remote, try names.find(batch) != nil else { throw place.hint.noBatch(batch, among: names) }
        let (shown, lasting) = (names.short(batch), names.lasting(batch))
        guard let job, !job.isEmpty else {
            let (any, all) = (place.hint.command("why", "\(lasting)/JOB"), place.hint.command("status", lasting))
            throw Failure(.wrongUsage, "name a job: \(any); \(all) shows the batch")
        }
        let explanation: JobExplanation
        do {
            explanation = try remote.explain(batch: batch, job: job, links: links)
        } catch let error as TransferError where error.code == .fileMissing {
            throw Failure(.wrongUsage, error.message)
        }
        let terminal = Terminal(STDOUT_FILENO, environment: Composition.environment)
        let charset = terminal.charset
        var again: String?
        if case .stopped = explanation.reason, let status = try remote.statuses(name: batch).first {
            let hint = place.hint
            again = hint.queue != nil ? hint.command("work") : RunAgain(status, state: place.state.state)?.command
        }
        let troubles = try remote.hookTroubles(batch: batch, limit: .max).filter { $0.job == job || $0.job == nil }
        let lines =
            json
            ? [WhyText.json(explanation, troubles: troubles)]
            : WhyText.lines(
                explanation, charset: charset, batch: shown, lasting: lasting, again: again, hint: place.hint,
                width: terminal.tableWidth)
        for line in lines { print(line) }
        guard !json else { return }
        for trouble in troubles { print(charset.visible(HookText.line(trouble))) }
    }
}
