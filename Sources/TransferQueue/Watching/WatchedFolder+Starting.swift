import TransferCore
import TransferEventLoop
import TransferFolders
import TransferJobs

extension WatchedFolder {
    /// Begins to watch. The jobs start as the queue runs (``JobQueue/run()``). Of what failed before one file is
    /// tried at once; when it succeeds the others follow, else each is tried at its time.
    ///
    /// - Parameter events: Called in order on a thread of the queue: it has to be quick.
    /// - Throws: `TransferError` for a spec that can't be done, for a folder that is watched already or can't be watched together
    ///   with another one (by what their paths lead to), and when the database fails. A folder that isn't there is waited for.
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
            throw TransferError(.invalidRequest, "this queue's store can't remember watched folders")
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
            // Jobs that haven't started may have to go elsewhere now.
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
