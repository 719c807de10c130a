import TransferCore
import TransferEventLoop
import TransferFolders
import TransferJobs

extension WatchedFolder {
    /// Starts to watch a folder. Its jobs start while the queue runs (``JobQueue/run()``). One of the files that failed
    /// before is tried at once; if it succeeds the others follow, else each is tried at its time.
    ///
    /// - Parameters:
    ///   - spec: The folder and the rules for its files.
    ///   - queue: The queue that uploads them.
    ///   - events: A function that is called in order on a thread of the queue, so it must be fast.
    /// - Returns: The handle to stop or steer it.
    /// - Throws: `TransferError` for an invalid spec, for a folder that is already watched or overlaps a watched one
    ///   (after resolving links), and if the database fails. A missing folder is not an error: it is waited for.
    public static func start(
        _ spec: WatchSpec, on queue: JobQueue, events: @escaping @Sendable (WatchedFolderEvent) -> Void = { _ in }
    ) async throws -> WatchedFolder {
        try await start(spec, on: queue, times: WatchTimes(), events: events)
    }

    static func start(
        _ spec: WatchSpec, on queue: JobQueue, times: WatchTimes,
        events: @escaping @Sendable (WatchedFolderEvent) -> Void
    ) async throws -> WatchedFolder {
        guard let history = queue.history else {
            throw TransferError(.invalidRequest, "this queue's store cannot remember watched folders")
        }
        let machine = history.sharesFolders ? WatchPlan.machine(of: spec.folder) : nil
        let plan = try WatchPlan(spec, machine: machine)
        guard await queue.runner.reserveWatch(plan.batch) else {
            throw TransferError(.fileLocked, "\(plan.root) is watched already")
        }
        do {
            let others = await queue.runner.watchers().map(\.plan.spec)
            let conflict = try await queue.watchPools.store.run { FolderConflict.first(of: spec, among: others) }
            if let conflict { throw conflict.error }
            // Jobs that have not started may need another origin now.
            await queue.runner.giveBackUnstarted(of: plan.batch)
            let (opened, kept) = try await queue.watchPools.store.run {
                let opened = try history.openHistory(plan)
                return (opened, spec.keepFor == nil ? 0 : try history.keptCount(folder: opened.folder))
            }
            let uploader = FolderUploader(
                plan, opened: opened, kept: kept, host: queue.runner, loop: queue.runner.loop, history: history,
                pools: queue.watchPools,
                times: times, tell: events)
            await uploader.start(opened)
            return WatchedFolder(uploader)
        } catch {
            await queue.runner.releaseWatch(plan.batch)
            throw error
        }
    }
}
