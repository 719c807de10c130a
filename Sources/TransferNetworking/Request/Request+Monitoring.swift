import Foundation
import FoundationNetworking

// The events for the monitors of a session and of a request. They are not created without monitors.
extension Request {
    func emit(_ event: @autoclosure () -> MonitorEvent) { if isMonitored { tell(event()) } }

    /// Returns an event to be emitted later; `nil` without monitors.
    func parsed(_ tell: @escaping @Sendable (any EventMonitor) -> Void) -> MonitorEvent? {
        !isMonitored ? nil : MonitorEvent(tell)
    }

    /// Emits an event with the task of an attempt.
    func emit(
        _ record: AttemptRecord, _ tell: @escaping @Sendable (any EventMonitor, URLSession, URLSessionTask) -> Void
    ) {
        guard isMonitored else { return }
        let task = record.task(of: self)
        let foundation = session.session
        self.tell(MonitorEvent { tell($0, foundation, task) })
    }

    func emit(_ state: State) {
        let record = read { $0.attempts.last }
        switch state {
        case .initialized, .finished: break
        case .resumed: emit(MonitorEvent { [self] in $0.requestDidResume(self) })
        case .suspended: emit(MonitorEvent { [self] in $0.requestDidSuspend(self) })
        case .cancelled:
            emit(MonitorEvent { [self] in $0.requestDidCancel(self) })
            if let record, record.isRunning { emit(record) { [self] in $0.request(self, didCancelTask: $2) } }
        }
    }
}
