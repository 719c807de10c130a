import TransferCore
import TransferEngine
import TransferEventLoop
import TransferStore

/// The look at the store before a file is replaced: other processes may have brought it for the same batch.
extension Downloads {
    /// - Returns: A batch of which a file may be replaced, and of which other processes may have brought some.
    func unknown(in group: [DownloadCompletion.Item], on host: isolated some DownloadHost) -> Int64? {
        let now = MonotonicTime.now
        return group.lazy.filter { $0.replacement != .nothing }.map(\.batch).first {
            !census.brought.isRevoked($0, isShared: host.sharesBatches, at: now)
        }
    }

    func save(_ group: [DownloadCompletion.Item], on host: isolated some DownloadHost) {
        engine.workers.execute { [host, census] in
            let answers = DownloadCompletion.run(group, census)
            host.loop.execute { host.onLoop { $0.downloads.didSave(answers, on: $0) } }
        }
    }

    /// Learns what complete jobs of a batch have brought, also in earlier processes, before a file may be replaced: none of
    /// them gives way to another job.
    func revoke(
        _ batch: Int64, after last: Int64 = 0, then group: [DownloadCompletion.Item],
        on host: isolated some DownloadHost
    ) {
        host.withStore {
            try $0.completed(batch: batch, after: last, limit: 512)
        } then: { host, page in
            let own = host.downloads
            guard let end = page.last?.id else {
                own.census.brought.noteRevoked(batch, at: .now)
                guard let next = own.unknown(in: group, on: host), next != batch else {
                    return own.save(group, on: host)
                }
                return own.revoke(next, then: group, on: host)
            }
            own.engine.workers.execute { [host, census = own.census] in
                for job in page { census.brought.note(job) }
                host.loop.execute { host.onLoop { $0.downloads.revoke(batch, after: end, then: group, on: $0) } }
            }
        }
    }
}
