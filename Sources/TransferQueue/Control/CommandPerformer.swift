import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferStore

/// The runner, as far as commands need it.
protocol CommandHost: PartHost {
    var commands: CommandPerformer { get }
    var jobs: Dictionary<Int64, RunningJob>.Values { get }
    /// Jobs that go back to the queue and aren't recorded yet.
    var steps: [JobStep] { get }
    func changeSteps(where isMeant: (JobStep) -> Bool, _ change: (inout JobStep) -> Void)
    func cancelSteps(where isMeant: (JobStep) -> Bool)
    /// Stops a job that is under way.
    func interrupt(_ job: RunningJob, _ stop: RunningJob.Stop)
    /// Jobs that were claimed and haven't started leave.
    func takeBack(_ stop: RunningJob.Stop, where isMeant: (JobRecord) -> Bool)
    func forgetSleepers(of batch: Int64)
    /// Origins that asked for a pause, or were given up, are tried again.
    func openGates()
    /// Origins that were given up are tried again.
    func reviveDead()
    func abandonCancelled(_ batch: Int64)
    func refreshFromStore(_ batch: Int64)
    func tellHooks(of batch: Int64, revivesFailed: Bool)
    /// A run without an end goes on with a batch that had ended and has something left again.
    func takeUp(_ batch: Int64)
}

/// Commands of other processes, done one after the other.
final class CommandPerformer {
    private var commands = CommandQueue()

    // MARK: The socket

    /// Makes the socket by which other processes ring.
    func listen(folder: String, runtime: String?, on host: isolated some CommandHost) {
        for place in ControlSocket.folders(runtime: runtime, state: folder) {
            let socket = ControlSocket(folder: place, loop: host.loop) { [weak host] in
                host?.onLoop { $0.commands.takeAll(on: $0) }
            }
            guard let socket else { continue }
            commands.socket = socket
            return host.publish(.socket(socket.path))
        }
    }

    func close() { commands.socket = nil }

    /// Whether all that was taken is done.
    var isIdle: Bool { commands.isIdle }

    /// Takes what was asked of this process: somebody rang.
    func takeAll(on host: isolated some CommandHost) {
        host.withStore {
            try $0.takeCommands()
        } then: { host, commands in
            host.commands.take(commands, on: host)
        }
    }

    // MARK: Commands

    func take(_ asked: [QueueCommand], on host: isolated some CommandHost) {
        commands.add(asked)
        performNext(on: host)
    }

    private func performNext(on host: isolated some CommandHost) {
        guard let command = commands.next() else { return }
        host.emit(command.batch, .commanded(command.verb, job: command.job))
        // The store doesn't know of these failures yet.
        let isFailing = host.steps.contains { $0.error != nil && command.means($0) }
        if let stop = command.stop { halt(stop, command, on: host) }
        if command.verb == .resume { unpause(command, on: host) }
        if command.verb == .retry {
            host.changeSteps(where: { $0.state == .waiting && command.means($0) }) { $0.cancelWaits() }
        }
        host.withStore { store -> (applied: AppliedCommand, opensGates: Bool) in
            let applied = try store.apply(command)
            let opensGates = command.opensGates(isFailing: isFailing || applied.hadFailed)
            if opensGates { try store.publish(.noPauses) }
            return (applied, opensGates)
        } then: { host, result in
            host.commands.applied(command, result.applied, opensGates: result.opensGates, on: host)
        }
    }

    private func applied(
        _ command: QueueCommand, _ applied: AppliedCommand, opensGates: Bool, on host: isolated some CommandHost
    ) {
        // Jobs that the store found claimed, and so left alone, are known here by now.
        if let stop = command.stop {
            halt(stop, command, on: host)
        } else if opensGates {
            host.openGates()
        } else if applied.count > 0 {
            // As for a job that is new.
            host.reviveDead()
        }
        commands.finished()
        if applied.isHooked { host.tellHooks(of: command.batch, revivesFailed: false) }
        announce(command, applied, on: host)
        performNext(on: host)
    }

    /// Jobs that were being claimed when a command came aren't started.
    func holdBack(on host: isolated some CommandHost) {
        guard let command = commands.current, let stop = command.stop else { return }
        host.takeBack(stop) { command.means($0.batch, $0.identity) }
    }

    /// Stops what is under way, what was claimed and hasn't started, and what goes back to the queue and isn't recorded
    /// yet: the store knows all of them as claimed.
    private func halt(_ stop: RunningJob.Stop, _ command: QueueCommand, on host: isolated some CommandHost) {
        for job in host.jobs where command.means(job.record.batch, job.record.identity) { host.interrupt(job, stop) }
        host.takeBack(stop) { command.means($0.batch, $0.identity) }
        switch stop {
        case .cancel: host.cancelSteps(where: command.means)
        case .release(let state):
            var paused: [JobStep] = []
            host.changeSteps(where: command.means) { step in
                if state == .paused, step.state != state { paused.append(step) }
                step.state = state
                step.due = nil
            }
            for step in paused { host.emit(step.batch, .waiting(job: step.identity, .paused)) }
        }
        host.forgetSleepers(of: command.batch)
    }

    private func announce(_ command: QueueCommand, _ applied: AppliedCommand, on host: isolated some CommandHost) {
        for job in applied.jobs {
            switch command.verb {
            case .cancel:
                host.emit(command.batch, .cancelled(job: job.identity), cursor: job.cursor, route: job.route)
            case .pause: host.emit(command.batch, .waiting(job: job.identity, .paused))
            case .resume, .retry, .retryFailed: break
            }
        }
        for skipped in applied.skipped {
            host.emit(
                skipped.batch, .skipped(job: skipped.identity, need: skipped.need), cursor: skipped.cursor,
                route: skipped.route)
        }
        if command.verb == .cancel { host.abandonCancelled(command.batch) }
        host.refreshFromStore(command.batch)
        // It was asked for before the batch was let go, and found there after that: nobody else goes on with it.
        if command.stop == nil, !applied.jobs.isEmpty { host.takeUp(command.batch) }
    }

    /// Jobs on their way to be paused go on instead.
    private func unpause(_ command: QueueCommand, on host: isolated some CommandHost) {
        for job in host.jobs where command.means(job.record.batch, job.record.identity) {
            if case .release(.paused) = job.stop { job.stop = .release(.queued) }
        }
        host.changeSteps(where: { $0.state == .paused && command.means($0) }) { $0.state = .queued }
    }
}

extension QueueCommand {
    /// The stop of jobs that are under way, if the command is one.
    var stop: RunningJob.Stop? {
        switch verb {
        case .pause: .release(.paused)
        case .cancel: .cancel
        case .resume, .retry, .retryFailed: nil
        }
    }

    /// Whether it's about that job.
    func means(_ batch: Int64, _ identity: String) -> Bool {
        batch == self.batch && (job == nil || job == identity)
    }

    func means(_ step: JobStep) -> Bool { means(step.batch, step.identity) }

    /// Whether origins that asked for a pause are tried again.
    ///
    /// - Parameter isFailing: Whether a job that it's about has failed; one that only waits for its turn gets no other by a
    ///   retry.
    func opensGates(isFailing: Bool) -> Bool { stop == nil && (verb == .resume || isFailing) }
}

extension JobStep {
    /// A job on its way to wait for its next attempt has it at once, as one that waits already.
    mutating func cancelWaits() {
        state = .queued
        due = nil
        (attempts, mirror, spentMirrors) = (0, 0, 0)
        askedWait = .zero
    }
}
