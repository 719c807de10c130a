public import Dispatch
public import Foundation
import FoundationNetworking
import TransferEngine

/// Who is told how far a request is.
struct ProgressObservers {
    var upload: Observer?
    var download: Observer?
    /// Those of streams of values, beside the one of a closure.
    var uploadStreams: [Observer] = []
    var downloadStreams: [Observer] = []
    /// What was told last of the attempt, so that nothing is told twice.
    var lastUpload: ProgressCount?
    var lastDownload: ProgressCount?

    struct Observer: Sendable {
        let queue: DispatchQueue
        let closure: Request.ProgressHandler
        /// Leads to the queue, and keeps the order where that is a concurrent one.
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
    /// It counts from its own beginning.
    mutating func attemptStarted() { (lastUpload, lastDownload) = (nil, nil) }

    var isEmpty: Bool { upload == nil && download == nil && uploadStreams.isEmpty && downloadStreams.isEmpty }
}

/// A moment of a progress.
struct ProgressCount: Sendable, Equatable {
    var completed: Int64
    /// `nil` when nobody knows.
    var total: Int64?

    /// Fresh each time: a `Progress` isn't safe to share between threads.
    var progress: Progress {
        // −1 is Foundation's word for unknown.
        let progress = Progress(totalUnitCount: total ?? -1)
        progress.completedUnitCount = completed
        return progress
    }
}

extension Request {
    @preconcurrency
    public typealias ProgressHandler = @Sendable (_ progress: Progress) -> Void

    /// How often it's looked how far a transfer is, where somebody wants to know.
    private static let interval = DispatchTimeInterval.milliseconds(50)

    /// Calls `closure` while the request's body is sent, at most twenty times a second, and when it's all sent.
    @discardableResult
    public func uploadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
        observe { $0.upload = .init(queue: queue, closure: closure) }
    }

    /// Calls `closure` while the answer's body arrives, at most twenty times a second, and when it's all there.
    @discardableResult
    public func downloadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
        observe { $0.download = .init(queue: queue, closure: closure) }
    }

    /// How much of the request's body has been sent.
    public var uploadProgress: Progress {
        read { $0.attempts.last }?.uploaded.progress ?? Progress(totalUnitCount: 0)
    }

    /// How much of the answer's body has arrived; for a resumed download, of the whole file.
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
        // With monitors it's looked at anyway.
        if let running, !isMonitored { session.rootQueue.async { self.reportProgress(of: running) } }
        return self
    }

    /// Reports while the attempt runs and somebody listens.
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

    /// The last word on an attempt: what arrived in a moment is reported too, and before the responses.
    func reportFinalProgress(_ record: AttemptRecord) {
        guard read({ !$0.progress.isEmpty }) || isMonitored else { return }
        report(record)
    }

    /// In the lock from the look at the counts to the hand-over: an older value never follows a newer one.
    private func report(_ record: AttemptRecord) {
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
        // What an earlier attempt left isn't written again; a body that starts anew is.
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
