public import Foundation
import Synchronization
import TransferCore

/// Builds the body of a form with files (`multipart/form-data`, RFC 7578).
///
/// Parts are sent in the order in which they were added. A part that can't be added is reported by `encode()` and
/// `writeEncodedData(to:)`, so that adding parts needs no `try`. Files are read piece by piece when the form is
/// encoded or sent; a file whose size is not the one it had when it was added is an error.
///
/// Names and file names are escaped as browsers do it: `"`, CR and LF become `%22`, `%0D` and `%0A`; all else is UTF-8.
///
/// `@unchecked Sendable`: what changes is in a `Mutex`; `FileManager` is safe on many threads.
open class MultipartFormData: @unchecked Sendable {
    /// Below this many bytes of content (10 MB), a form is encoded in memory, else in a temporary file.
    public static let encodingMemoryThreshold: UInt64 = 10_000_000

    /// The `Content-Type` of the body: `multipart/form-data` and the boundary.
    open var contentType: String { "multipart/form-data; boundary=\(Boundary.parameter(boundary))" }

    /// The bytes of all contents, without the boundaries and the fields between them.
    public var contentLength: UInt64 {
        state.withLock { state in
            state.parts.reduce(0) { sum, part in
                let (more, overflows) = sum.addingReportingOverflow(part.length)
                return overflows ? .max : more
            }
        }
    }

    /// The boundary between the parts: 1 to 70 characters (RFC 2046 §5.1.1) that must not be in any of them.
    public let boundary: String

    let fileManager: FileManager
    private let state: Mutex<State>

    private struct State {
        var parts: [FormPart] = []
        /// The first one stands.
        var failure: (any Error)?
    }

    /// - Parameters:
    ///   - fileManager: For the questions whether a file exists, and temporary folders.
    ///   - boundary: Random, unless given. One that RFC 2046 doesn't allow is reported when the form is encoded.
    public init(fileManager: FileManager = .default, boundary: String? = nil) {
        self.fileManager = fileManager
        if let boundary, !Boundary.isValid(boundary) {
            self.boundary = Boundary.random()
            state = Mutex(
                State(failure: TransferError(.invalidRequest, "not a multipart boundary: \(boundary.debugDescription)"))
            )
        } else {
            self.boundary = boundary ?? Boundary.random()
            state = Mutex(State())
        }
    }

    /// Adds data.
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - fileName: A file name to send along.
    ///   - mimeType: The `Content-Type` of the part; none is sent without it.
    public func append(_ data: Data, withName name: String, fileName: String? = nil, mimeType: String? = nil) {
        let headers = FormPart.headers(name: name, fileName: fileName, mimeType: mimeType)
        add(FormPart(headers: headers, content: .bytes(data), length: UInt64(data.count)))
    }

    /// Adds a file under its own name, its media type told by its extension
    /// (`application/octet-stream` for an unknown one).
    ///
    /// A name without an extension is an error: name the file and its type with
    /// `append(_:withName:fileName:mimeType:)` instead.
    public func append(_ fileURL: URL, withName name: String) {
        let fileName = fileURL.lastPathComponent
        let fileExtension = fileURL.pathExtension
        guard !fileName.isEmpty, !fileExtension.isEmpty else { return fail(.bodyPartFilenameInvalid(in: fileURL)) }
        append(
            fileURL, withName: name, fileName: fileName, mimeType: FileMediaType.of(fileExtension: fileExtension))
    }

    /// Adds a file: a regular one that can be read. It's opened again and read when its turn comes.
    public func append(_ fileURL: URL, withName name: String, fileName: String, mimeType: String) {
        guard fileURL.isFileURL else { return fail(.bodyPartURLInvalid(url: fileURL)) }
        let headers = FormPart.headers(name: name, fileName: fileName, mimeType: mimeType)
        do {
            let size = try FormFile.size(of: fileURL)
            add(FormPart(headers: headers, content: .file(path: fileURL.path), length: size))
        } catch { fail(error.reason) }
    }

    /// Adds a stream with a file name.
    ///
    /// - Parameters:
    ///   - stream: Not open yet. It's read once, when its turn comes, and belongs to the form from now on.
    ///   - length: The bytes it will give. More or fewer are an error.
    public func append(
        _ stream: InputStream, withLength length: UInt64, name: String, fileName: String, mimeType: String
    ) {
        append(
            stream, withLength: length,
            headers: FormPart.headers(name: name, fileName: fileName, mimeType: mimeType))
    }

    /// Adds a stream with header fields of your own; `Content-Disposition` must be one of them (RFC 7578 §4.2).
    ///
    /// - Parameters:
    ///   - stream: Not open yet. It's read once, when its turn comes, and belongs to the form from now on.
    ///   - length: The bytes it will give. More or fewer are an error.
    ///   - headers: Sent in this order. Line breaks in them are sent as spaces.
    public func append(_ stream: InputStream, withLength length: UInt64, headers: HTTPHeaders) {
        add(FormPart(headers: headers, content: .stream(OneTimeStream(stream)), length: length))
    }

    /// - Throws: What went wrong when parts were added.
    func segments() throws -> FormSegments {
        let (parts, failure) = state.withLock { ($0.parts, $0.failure) }
        if let failure { throw failure }
        return try FormSegments(parts, boundary: boundary)
    }

    private func add(_ part: FormPart) { state.withLock { $0.parts.append(part) } }

    private func fail(_ reason: AFError.MultipartEncodingFailureReason) {
        state.withLock { state in
            if state.failure == nil { state.failure = AFError.multipartEncodingFailed(reason: reason) }
        }
    }
}
