public import Dispatch
public import Foundation
import FoundationNetworking
import TransferEngine

/// The observers of a request's progress.
struct ProgressObservers {
    var upload: Observer?
    var download: Observer?
    /// The observers of streams, in addition to the observer of a closure.
    var uploadStreams: [Observer] = []
    var downloadStreams: [Observer] = []
    /// The last reported counts of the attempt, so that none is reported twice.
    var lastUpload: ProgressCount?
    var lastDownload: ProgressCount?

    struct Observer: Sendable {
        let queue: DispatchQueue
        let closure: Request.ProgressHandler
        /// The serial queue in front of `queue`, which keeps the order if `queue` is concurrent.
        private let lane: DispatchQueue

        init(queue: DispatchQueue, closure: @escaping Request.ProgressHandler) {
            self.queue = queue
            self.closure = closure
            lane = DispatchQueue(label: "transferkit.progress", target: queue)
        }

        func tell(_ count: ProgressCount) { lane.async { closure(count.progress) } }
    }

    var uploads: [Observer] { (upload.map { [$0] } ?? []) + uploadStreams }
    var downloads: [Observer] { (download.map { [$0] } ?? []) + downloadStreams }
    /// Resets the counts, as each attempt counts from its own beginning.
    mutating func attemptStarted() { (lastUpload, lastDownload) = (nil, nil) }

    var isEmpty: Bool { upload == nil && download == nil && uploadStreams.isEmpty && downloadStreams.isEmpty }
}

/// The progress at one moment, in bytes.
struct ProgressCount: Sendable, Equatable {
    var completed: Int64
    /// The total in bytes; `nil` if it is unknown.
    var total: Int64?

    /// The progress in Foundation's form. Each call creates a new object, as a `Progress` is not safe to share between
    /// threads.
    var progress: Progress {
        // −1 is Foundation's value for an unknown total.
        let progress = Progress(totalUnitCount: total ?? -1)
        progress.completedUnitCount = completed
        return progress
    }
}

extension Request {
    /// A closure that receives the progress of a request.
    @preconcurrency
    public typealias ProgressHandler = @Sendable (_ progress: Progress) -> Void

    /// The interval between observations of the progress.
    private static let interval = DispatchTimeInterval.milliseconds(50)

    /// Calls `closure` while the request's body is sent, at most twenty times a second, and at its end.
    @discardableResult
    public func uploadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
        observe { $0.upload = .init(queue: queue, closure: closure) }
    }

    /// Calls `closure` with the first bytes of the response's body, while it arrives, at most twenty times a second, and
    /// at its end.
    @discardableResult
    public func downloadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
        observe { $0.download = .init(queue: queue, closure: closure) }
    }

    /// The progress of sending the request's body, in bytes.
    public var uploadProgress: Progress {
        read { $0.attempts.last }?.uploaded.progress ?? Progress(totalUnitCount: 0)
    }

    /// The progress of receiving the response's body, in bytes; for a resumed download, of the whole file.
    public var downloadProgress: Progress {
        read { $0.attempts.last }?.downloaded.progress ?? Progress(totalUnitCount: 0)
    }

    @discardableResult
    func observe(_ change: (inout ProgressObservers) -> Void) -> Self {
        let running = update { state in
            let wasEmpty = state.progress.isEmpty
            change(&state.progress)
            return wasEmpty && state.transferring != nil ? state.attempt : nil
        }
        // The progress is reported anyway if there are monitors.
        if let running, !isMonitored { session.rootQueue.async { self.reportProgress(of: running) } }
        return self
    }

    /// Reports the progress while the attempt runs and has observers.
    func reportProgress(of attempt: Int) {
        let record = read { state in
            state.attempt == attempt && (!state.progress.isEmpty || isMonitored) ? state.transferring : nil
        }
        guard let record else { return }
        report(record)
        session.rootQueue.asyncAfter(deadline: .now() + Self.interval) { [weak self] in
            self?.reportProgress(of: attempt)
        }
    }

    /// Reports the first bytes of an attempt, which may end before the next observation.
    func reportFirstProgress(of attempt: Int) {
        guard let record = read({ $0.attempt == attempt ? $0.transferring : nil }) else { return }
        report(record)
    }

    /// Reports the final counts of an attempt before its responses, so that even a very short attempt is reported.
    func reportFinalProgress(_ record: AttemptRecord) {
        guard read({ !$0.progress.isEmpty }) || isMonitored else { return }
        report(record)
    }

    /// Reports the current counts. The lock covers reading and reporting, so that an older value never follows a newer
    /// one.
    private func report(_ record: AttemptRecord) {
        // The session may be released meanwhile. Its end is an event of the request, and must not come within the lock.
        let session = session
        withExtendedLifetime(session) { reportLocked(record) }
    }

    private func reportLocked(_ record: AttemptRecord) {
        update { state in
            let (upload, download) = (record.uploaded, record.downloaded)
            let before = (state.progress.lastUpload, state.progress.lastDownload)
            state.progress.lastUpload = upload
            state.progress.lastDownload = download
            if before.0 != upload, upload.total != 0 {
                for observer in state.progress.uploads { observer.tell(upload) }
                emitSent(record, upload, since: before.0)
            }
            if before.1 != download, download.completed > 0 || download.total != nil {
                for observer in state.progress.downloads { observer.tell(download) }
                if kind == .download { emitWritten(record, download, since: before.1) }
            }
        }
    }

    private func emitSent(_ record: AttemptRecord, _ count: ProgressCount, since last: ProgressCount?) {
        emit(record) {
            $0.urlSession(
                $1, task: $2, didSendBodyData: count.completed - (last?.completed ?? 0),
                totalBytesSent: count.completed, totalBytesExpectedToSend: record.bodyLength ?? -1)
        }
    }

    private func emitWritten(_ record: AttemptRecord, _ count: ProgressCount, since last: ProgressCount?) {
        // Bytes of an earlier attempt are not written again, unless the body starts anew.
        let (before, offset) = (last?.completed ?? 0, record.start?.offset ?? 0)
        let written = count.completed - (before <= count.completed ? max(before, offset) : offset)
        emit(record) { monitor, session, task in
            guard let task = task as? URLSessionDownloadTask else { return }
            monitor.urlSession(
                session, downloadTask: task, didWriteData: written,
                totalBytesWritten: count.completed, totalBytesExpectedToWrite: count.total ?? -1)
        }
    }
}
