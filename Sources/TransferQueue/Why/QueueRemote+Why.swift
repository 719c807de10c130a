import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
public import TransferReachability
import TransferScheduling
import TransferStore

extension QueueRemote {
    /// What a job waits for, or how it ended.
    ///
    /// - Parameter links: What the user says of links, as ``QueueConfiguration/meteredRule`` has it.
    /// - Throws: `fileMissing` when there is no such batch or job; the message names what may have been meant.
    public func explain(batch: String, job: String, links: MeteredRule = MeteredRule()) throws -> JobExplanation {
        guard let facts = try reported({ try store.facts(batch: batch, job: job) }) else { throw try unknown(batch, job) }
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
