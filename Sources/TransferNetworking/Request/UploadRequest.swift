public import Foundation
import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine

/// A request that sends a body of its own.
public final class UploadRequest: DataRequest, @unchecked Sendable {  // Its own state is behind a lock.
    /// The body that is sent.
    public enum Uploadable: @unchecked Sendable {  // A stream is read by one attempt at a time.
        case data(Data)
        /// - Parameter shouldRemove: Whether the file is removed when the request has come to its end.
        case file(URL, shouldRemove: Bool)
        case stream(InputStream)
    }

    /// The body that is sent; `nil` for one that has to be made first (a form, a stream by a closure).
    public var uploadable: Uploadable? { made.withLock { $0 }?.uploadable ?? (upload as? UploadParts)?.ready }
    /// The value that the upload is made of.
    public let upload: any UploadConvertible
    public let fileManager: FileManager
    private let made = Mutex<Made?>(nil)

    init(
        _ upload: any UploadConvertible, session: Session, _ options: RequestOptions,
        fileManager: FileManager
    ) {
        self.upload = upload
        self.fileManager = fileManager
        super.init(convertible: upload, session: session, options)
    }

    deinit { removeFile() }

    override var kind: AttemptRecord.Kind { .upload }
    override var touchesFiles: Bool { true }

    override func requestBody(_ request: URLRequest) throws -> RequestBody? {
        do {
            if let known = made.withLock({ $0 }) { return try body(known, request) }
            let new = Made(uploadable: try upload.createUploadable())
            made.withLock { $0 = new }
            emit(MonitorEvent { [self] in $0.request(self, didCreateUploadable: new.uploadable) })
            return try body(new, request)
        } catch {
            let failure = error.asAFError { .createUploadableFailed(error: $0) }
            emit(MonitorEvent { [self] in $0.request(self, didFailToCreateUploadableWithError: failure) })
            throw failure
        }
    }

    private func body(_ made: Made, _ request: URLRequest) throws -> RequestBody {
        switch made.uploadable {
        case .data(let data): return .bytes([UInt8](data))
        case .file(let url, _): return .file(try SourceFile(url.path))
        case .stream(let stream):
            let provided = ProvidedStream(stream: stream)
            emit(MonitorEvent { [self] in $0.request(self, didProvideInputStream: provided.stream) })
            return .stream(made.stream { body(of: stream, request) })
        }
    }

    private func body(of stream: InputStream, _ request: URLRequest) -> InputStreamBody {
        // A length that was set by hand is the one to be announced; without one the body is sent in chunks.
        let length = request.headers["Content-Length"].flatMap { Int64($0) }
        return InputStreamBody(stream, length: length) { [upload, weak self] in
            if let self, let record = read({ $0.running }) {
                emit(record) { $0.urlSession($1, taskNeedsNewBodyStream: $2) }
            }
            return try? (upload as? UploadParts)?.makeStream?()
        }
    }

    /// Removes a temporary file that was made for the upload; a request does it itself at its end.
    public func cleanup() { removeFile() }

    override func ended() { removeFile() }

    /// A temporary file is of no use to anybody else, whatever came of the request.
    private func removeFile() {
        (upload as? UploadParts)?.cleanUp()
        guard case .file(let url, shouldRemove: true) = made.withLock({ $0 })?.uploadable else { return }
        try? fileManager.removeItem(at: url)
    }
}

/// What an upload sends, for all of its attempts.
private final class Made: Sendable {
    let uploadable: UploadRequest.Uploadable
    private let stream = Mutex<InputStreamBody?>(nil)

    init(uploadable: UploadRequest.Uploadable) { self.uploadable = uploadable }

    /// One body for all attempts: it knows whether its stream has been read.
    func stream(_ make: () -> InputStreamBody) -> InputStreamBody {
        stream.withLock { stream in
            let body = stream ?? make()
            stream = body
            return body
        }
    }
}

/// Shows a stream to monitors, which only look at it.
struct ProvidedStream: @unchecked Sendable {  // Read by one attempt at a time; nobody else touches it.
    let stream: InputStream
}

/// Makes what an upload sends.
@preconcurrency
public protocol UploadableConvertible: Sendable {
    /// Called once, on a worker: it may touch files.
    func createUploadable() throws -> UploadRequest.Uploadable
}

/// Both halves of an upload: the request and what it sends.
@preconcurrency
public protocol UploadConvertible: UploadableConvertible, URLRequestConvertible {}

extension UploadRequest.Uploadable: UploadableConvertible {
    public func createUploadable() throws -> UploadRequest.Uploadable { self }
}
