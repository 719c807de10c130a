import ArgumentParser
import Glibc
import TransferCore
import TransferEventLoop
import TransferQueue

struct Why: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What a job waits for, or how it ended; also of a batch that another process runs.",
        discussion: """
            The network and which rule of the job file, a server's Retry-After, the backoff, another job, a slot, its \
            schedule, a person who paused it, or a process that runs its batch.
            """)

    @Argument(help: ArgumentHelp("A job.", valueName: "batch/job"))
    var name: String

    @Flag(help: "JSON on standard output.")
    var json = false

    @OptionGroup var state: StateOptions

    func run() throws {
        let remote = try Composition.remote(existingState: state.state)
        let (batch, job) = Target.split(name, try remote?.statuses().map(\.name) ?? [])
        guard let remote else { throw Failure(.wrongUsage, "no batch \"\(batch)\"; transfer status lists them") }
        guard let job, !job.isEmpty else {
            let (any, all) = (ShellWord.quoted("\(batch)/JOB"), ShellWord.quoted(batch))
            throw Failure(.wrongUsage, "name a job: transfer why \(any); transfer status \(all) shows the batch")
        }
        let explanation: JobExplanation
        do {
            explanation = try remote.explain(batch: batch, job: job)
        } catch let error as TransferError where error.code == .fileMissing {
            throw Failure(.wrongUsage, error.message)
        }
        let charset = Terminal(STDOUT_FILENO, environment: Composition.environment).charset
        let lines = json ? [WhyText.json(explanation)] : WhyText.lines(explanation, charset: charset)
        for line in lines { print(line) }
    }
}
