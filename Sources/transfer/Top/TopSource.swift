import TransferCore
import TransferEventLoop
import TransferQueue

/// A queue that the live screen looks at: a folder's, a database's or a service's.
enum TopSource {
    case queue(QueueRemote, CommandHint)
    case service(ServiceClient)

    /// The most transfers that a look reads; a screen has fewer rows.
    private static let mostTransfers = 500

    private struct Jobs: Decodable {
        struct Job: Decodable {
            let batch: String
            let id: String
            let bytes: Int64?
            let total: Int64?
            let rate: Int64?
            let phase: String?
            let worker: String?
        }

        let jobs: [Job]
    }

    /// Looks at the queue.
    ///
    /// - Parameter batch: The name of the only batch to look at, which may be a short one; `nil` for all.
    /// - Throws: `Failure` where there is no such batch.
    func look(_ batch: String?) async throws -> TopLook {
        switch self {
        case .queue(let remote, let hint):
            let names = BatchNames(try remote.batchRegister())
            let name = try batch.flatMap { text throws(Failure) in try names.find(text) }
            if let batch, name == nil { throw hint.noBatch(batch, among: names) }
            let rows = try remote.statuses(name: name).map { StatusText.row($0, hint: hint) }
            return TopLook(time: WallClock.milliseconds, batches: rows, transfers: try Self.transfers(remote, name))
        case .service(let client):
            let all = try await client.batches()
            let names = BatchNames(all.map(\.name))
            let name = try batch.flatMap { text throws(Failure) in try names.find(text) }
            if let batch, name == nil { throw Failure(.wrongUsage, "no batch \"\(batch)\" at \(client.base)") }
            let rows = all.filter { name == nil || $0.name == name }.map(ServiceVerbs.row)
            let query = name.map { "&batch=\(PercentEncoding.encode($0))" } ?? ""
            let jobs = try await client.ask(
                "GET", "jobs?state=running&limit=\(Self.mostTransfers)\(query)", as: Jobs.self
            ).jobs
            let transfers = jobs.map { job in
                TopLook.Transfer(
                    batch: job.batch, job: job.id, completed: job.bytes ?? 0, total: job.total, rate: job.rate,
                    phase: job.phase.flatMap(JobProgress.Phase.init(rawValue:)) ?? .transferring, worker: job.worker)
            }
            return TopLook(time: WallClock.milliseconds, batches: rows, transfers: transfers)
        }
    }

    private static func transfers(_ remote: QueueRemote, _ batch: String?) throws -> [TopLook.Transfer] {
        let reported = try remote.jobsUnderWay(limit: mostTransfers)
        guard reported.isEmpty else {
            return reported.filter { batch == nil || $0.batch == batch }.map { job in
                TopLook.Transfer(
                    batch: job.batch, job: job.job, completed: job.progress.completed, total: job.progress.total,
                    rate: job.progress.rate, phase: job.progress.phase, worker: job.progress.worker)
            }
        }
        // A queue in a folder has the bytes of its jobs, and neither their sizes nor their rates.
        var selection = JobSelection()
        selection.batch = batch
        selection.states = [.claimed]
        selection.limit = mostTransfers
        return try remote.jobs(selection).filter(\.isUnderWay).map { job in
            TopLook.Transfer(batch: job.batch, job: job.listed.job, completed: job.listed.bytes ?? 0)
        }
    }
}
