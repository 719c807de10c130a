import Synchronization
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs

extension JobQueue {
    /// Has everything that is measured of this queue told from now on: the one source of all metrics, in whichever form
    /// they are shown.
    ///
    /// - Parameters:
    ///   - folder: The watched folder of a batch of that name, for batches that aren't watched now; `nil` for others.
    ///   - observer: Called by any thread, also by several at once: it has to be quick.
    package func measure(
        folder: @escaping @Sendable (String) -> String? = { _ in nil },
        _ observer: @escaping @Sendable ([Measurement]) -> Void
    ) {
        let runner = runner
        let events = Mutex(
            QueueMeasurements { name in
                // Events come on the runner's own thread.
                runner.onLoop { $0.folders.root(ofBatch: name) } ?? folder(name)
            })
        observer(QueueMeasurements.beginning + [Self.build])
        hub.measurements.add(observer)
        observe { event in
            let changes = events.withLock { $0.changes(by: event) }
            if !changes.isEmpty { observer(changes) }
        }
    }

    private static var build: Measurement {
        let library = CurlLibrary.version.split(separator: " ").first.map(String.init) ?? ""
        let version = library.split(separator: "/").last.map(String.init) ?? library
        return Measurement(.buildInfo, [TransferVersion.current, version], .set(1))
    }
}
