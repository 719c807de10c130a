import TransferCore
import TransferFleet
import TransferQueue

/// The display of batches that workers do, to their ends.
struct FleetFollow {
    let address: FleetAddress
    let output: OutputOptions
    let hint: CommandHint

    /// Reports that no worker is there, where that is so.
    func reportMissingWorkers(_ remote: QueueRemote) {
        // The jobs are durable: a failure of this question is no failure of the run.
        if let workers = try? remote.workers(), workers.allSatisfy({ $0.lease <= .zero }) {
            StandardError.write(
                "no worker is there: the jobs wait until `transfer work --queue \(address)` runs\n")
        }
    }

    /// Shows the progress of the batches, to their ends.
    func watch(_ view: FleetView, _ remote: QueueRemote) async throws -> ExitStatus {
        let reporter = try Composition.reporter(output)
        reporter.call([:], hint)
        let watch = FleetWatch(address, remote, view: view)
        Signals.handle {
            reporter.cancelWaits()
            watch.stop()
        }
        let connectionNotice = ConnectionNotice(reporter)
        let show: @Sendable ([QueueEvent]) -> Void = { reporter.show($0) }
        let status = try await watch.follow(
            connectionNotice: connectionNotice.tell, show: reporter.showsTransfers ? show : nil
        ) {
            reporter.receive($0)
        }
        if status == .workLeft {
            for name in view.names {
                reporter.note(.info, "workers continue it; \(hint.command("wait", name)) waits for its end")
            }
        }
        reporter.finish()
        Signals.dieIfReceived()
        return status
    }
}
