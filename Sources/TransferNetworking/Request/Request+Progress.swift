public import Dispatch
public import Foundation
import TransferEngine

/// Who is told how far a request is.
struct ProgressObservers {
    var upload: Observer?
    var download: Observer?
    /// What was told last, so that nothing is told twice.
    var lastUpload: ProgressCount?
    var lastDownload: ProgressCount?

    struct Observer: Sendable {
        let queue: DispatchQueue
        let closure: Request.ProgressHandler
    }

    var isEmpty: Bool { upload == nil && download == nil }
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
        read { state in state.running.map { Self.upload($0) } ?? state.progress.lastUpload }?.progress
            ?? Progress(totalUnitCount: 0)
    }

    /// How much of the answer's body has arrived; for a resumed download, of the whole file.
    public var downloadProgress: Progress {
        read { state in state.running.map { Self.download($0) } ?? state.progress.lastDownload }?.progress
            ?? Progress(totalUnitCount: 0)
    }

    private func observe(_ change: (inout ProgressObservers) -> Void) -> Self {
        let running = update { state in
            let wasEmpty = state.progress.isEmpty
            change(&state.progress)
            return wasEmpty && state.running != nil ? state.attempt : nil
        }
        if let running { session.rootQueue.async { self.reportProgress(of: running) } }
        return self
    }

    /// Reports while the attempt runs and somebody listens.
    func reportProgress(of attempt: Int) {
        let running = read { state in
            state.attempt == attempt && !state.progress.isEmpty ? state.running : nil
        }
        guard let running else { return }
        report(upload: Self.upload(running), download: Self.download(running))
        session.rootQueue.asyncAfter(deadline: .now() + Self.interval) { [weak self] in
            self?.reportProgress(of: attempt)
        }
    }

    /// The last word on an attempt: what arrived in a moment is reported too, and before the responses.
    func reportFinalProgress(_ end: TransferEnd) {
        let running = read { $0.running }
        guard let running else { return }
        var download = Self.download(running)
        if case .success = end.outcome.result {
            download = ProgressCount(completed: end.outcome.position, total: end.outcome.position)
        }
        report(upload: Self.upload(running), download: download)
    }

    private func report(upload: ProgressCount, download: ProgressCount) {
        let observers = update { state in
            var changed = ProgressObservers()
            if state.progress.lastUpload != upload, upload.total != 0 { changed.upload = state.progress.upload }
            if state.progress.lastDownload != download { changed.download = state.progress.download }
            state.progress.lastUpload = upload
            state.progress.lastDownload = download
            return (changed.upload, changed.download)
        }
        if let observer = observers.0 { observer.queue.async { observer.closure(upload.progress) } }
        if let observer = observers.1, download.completed > 0 || download.total != nil {
            observer.queue.async { observer.closure(download.progress) }
        }
    }

    private static func upload(_ running: RunningTransfer) -> ProgressCount {
        ProgressCount(completed: running.meter.sent, total: running.bodyLength)
    }

    private static func download(_ running: RunningTransfer) -> ProgressCount {
        ProgressCount(completed: running.meter.position, total: running.meter.total)
    }
}
