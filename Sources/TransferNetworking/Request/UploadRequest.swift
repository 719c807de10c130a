public import Foundation
import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine

/// A request that sends a body of its own.
public final class UploadRequest: DataRequest, @unchecked Sendable {  // Its own state is behind a lock.
    /// The body of an upload.
    public enum Uploadable: @unchecked Sendable {  // A stream is read by one attempt at a time.
        /// The body is in memory.
        case data(Data)
        /// The body is a file.
        ///
        /// - Parameter shouldRemove: Whether the file is removed at the end of the request.
        case file(URL, shouldRemove: Bool)
        /// The body is read from a stream, once.
        case stream(InputStream)
    }

    /// The body of the upload; `nil` for one that is created later (a form, a stream from a closure).
    public var uploadable: Uploadable? { made.withLock { $0 }?.uploadable ?? (upload as? UploadParts)?.ready }
    /// The source of the URL request and the body.
    public let upload: any UploadConvertible
    /// The file manager that removes the upload's temporary file.
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
        // A length that the program has set is announced; without one the body is sent in chunks.
        let length = request.headers["Content-Length"].flatMap { Int64($0) }
        return InputStreamBody(stream, length: length) { [upload, weak self] in
            if let self, let record = read({ $0.running }) {
                emit(record) { $0.urlSession($1, taskNeedsNewBodyStream: $2) }
            }
            return try? (upload as? UploadParts)?.makeStream?()
        }
    }

    /// Removes a temporary file of the upload; a request does so automatically at its end.
    public func cleanup() { removeFile() }

    override func ended() { removeFile() }

    /// Removes the temporary file, which is of no use after the request, whatever its result.
    private func removeFile() {
        (upload as? UploadParts)?.cleanUp()
        guard case .file(let url, shouldRemove: true) = made.withLock({ $0 })?.uploadable else { return }
        try? fileManager.removeItem(at: url)
    }
}

/// The body of an upload, for all of its attempts.
private final class Made: Sendable {
    let uploadable: UploadRequest.Uploadable
    private let stream = Mutex<InputStreamBody?>(nil)

    init(uploadable: UploadRequest.Uploadable) { self.uploadable = uploadable }

    /// Returns the one body for all attempts, which knows whether its stream has been read.
    func stream(_ make: () -> InputStreamBody) -> InputStreamBody {
        stream.withLock { stream in
            let body = stream ?? make()
            stream = body
            return body
        }
    }
}

/// A stream for monitors, which must not read it.
struct ProvidedStream: @unchecked Sendable {  // Read by one attempt at a time, and by no other code.
    let stream: InputStream
}

/// A source of an upload's body.
@preconcurrency
public protocol UploadableConvertible: Sendable {
    /// Creates the body. Called once, on a worker, so that it may use files.
    func createUploadable() throws -> UploadRequest.Uploadable
}

/// Both parts of an upload: the URL request and the body.
@preconcurrency
public protocol UploadConvertible: UploadableConvertible, URLRequestConvertible {}

extension UploadRequest.Uploadable: UploadableConvertible {
    /// Returns the body itself.
    public func createUploadable() throws -> UploadRequest.Uploadable { self }
}
