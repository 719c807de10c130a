import TransferCore
package import TransferEventLoop
import TransferStore

// Times at which a watched folder does something.
extension FolderUploader {
    package func timer(_ which: WatchTimer) -> LoopTimer {
        if let timer = timers[which] { return timer }
        let timer = loop.makeTimer { [weak self] in self?.onLoop { $0.fired(which) } }
        timers[which] = timer
        return timer
    }

    private func fired(_ timer: WatchTimer) {
        switch timer {
        case .due:
            due.at = nil
            actOnDue()
        case .prune: prune(onlyGone: true)
        case .failed: hear(.due)
        }
    }
}

// Files that failed are tried again (``FailedFiles``).
extension FolderUploader {
    package func hear(_ event: FailedFiles.Event) {
        switch failed.event(event, at: .now) {
        case .none: break
        case .wake(let selection, let count): wake(selection, count)
        }
        scheduleFailed()
    }

    private func wake(_ selection: FailedSelection, _ count: Int) {
        Task {
            let id = batch.id
            let woken = await onStore { try $0.wakeFailed(batch: id, selection, limit: count) }
            guard let woken, !isStopped else { return }
            let held = batch
            host.hear(.woke(held, woken), from: self)
            note(woken.changes.open, woken.changes.stamp)
            hear(.woken(FailedFiles.Woken(jobs: woken.jobs, next: woken.next)))
            tellBacklog()
        }
    }

    private func scheduleFailed() {
        guard !isStopped, let time = failed.nextWake else { return }
        timer(.failed).schedule(at: time)
    }
}
