import Glibc
import TransferCore
import TransferEngine
import TransferEventLoop

extension QueueRunner {
    /// Makes the socket by which other processes ring.
    func listen(folder: String, runtime: String?) { commands.listen(folder: folder, runtime: runtime, on: self) }

    func closeControl() { commands.close() }

    /// Whether the run goes on when there is nothing to do.
    func runForever() {
        state.isEndless = true
        folders.addAll(on: self)
    }

    /// Whether jobs are still being added to a batch that runs.
    func setFeeding(_ isFeeding: Bool) {
        state.isFeeding = isFeeding
        pump()
    }

    /// A job that could not even be read.
    func addFailure(_ failure: JobFailure) {
        batches.add(failure, on: self)
    }

    func submitted(_ staged: StagedJobs) {
        memory.secrets.merge(staged.secrets) { $1 }
        guard state.isEndless || batches[staged.batch.id] != nil else { return }
        add(staged.batch, secrets: staged.secrets, options: RunOptions())
        pump()
    }
}
