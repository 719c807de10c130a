import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
public import TransferReachability
import TransferScheduling
import TransferStore

extension QueueRemote {
    /// Explains what a job waits for, or how it ended.
    ///
    /// - Parameters:
    ///   - batch: The name of the batch.
    ///   - job: The job's name in the batch.
    ///   - links: The links that the user declares metered, as ``QueueConfiguration/meteredRule``.
    /// - Throws: `fileMissing` if the batch or job does not exist; the message suggests similar names. Other
    ///   `TransferError` if the database fails.
    public func explain(batch: String, job: String, links: MeteredRule = MeteredRule()) throws -> JobExplanation {
        guard let facts = try reported({ try store.facts(batch: batch, job: job) }) else {
            throw try unknown(batch, job)
        }
        var options = NetworkMonitor.Options()
        options.meteredRule = links
        let monitor = NetworkMonitor(options: options)
        let look = HostLook(monitor: monitor)
        var explanation = facts.explanation(monitor.current, now: .now, zone: .system) { look.finding($0) }
        if !facts.state.hasEnded, case .download(let download) = facts.spec.work, !download.urls.isEmpty {
            let target = DownloadTarget(
                download.destination, directory: facts.directory, defaultName: download.defaultName)
            let url = download.urls[min(max(0, facts.attempts.mirror), download.urls.count - 1)]
            let path = PartName.path(of: target.file(url: url, disposition: nil))
            if let part = PartFile.look(path) {
                explanation.held = JobExplanation.Held(bytes: part.size, total: part.record?.total, path: path)
            }
        }
        return explanation
    }

    private func unknown(_ batch: String, _ job: String) throws -> TransferError {
        let batches = try batchNames()
        guard batches.contains(batch) else {
            let nearest = NearestKey.suggestion(for: batch, among: batches).map { "did you mean \"\($0)\"?" }
            return TransferError(
                .fileMissing,
                "no batch \(Wording.quoted(batch)); \(nearest ?? CommandPhrases.choose("transfer status lists them", "statuses() has them"))"
            )
        }
        let known = try store.identities(batch: batch, like: job, limit: 2000)
        let nearest = known.first { !job.isEmpty && $0.contains(job) } ?? NearestKey.suggestion(for: job, among: known)
        let hint = nearest.map { "; did you mean \(Wording.quoted($0))?" } ?? ""
        return TransferError(
            .fileMissing, "no job \(Wording.quoted(job)) in the batch \(Wording.quoted(batch))\(hint)")
    }
}
