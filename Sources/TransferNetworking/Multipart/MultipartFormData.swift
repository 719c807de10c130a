public import Foundation
import Synchronization
import TransferCore

/// A builder for the body of a form with files (`multipart/form-data`, RFC 7578).
///
/// Parts are sent in the order in which they were added. Errors of adding a part are reported by `encode()` and
/// `writeEncodedData(to:)`, so that adding parts needs no `try`. Files are read piece by piece when the form is encoded
/// or sent. A file whose size has changed since it was added is an error.
///
/// Names and file names are escaped as browsers do it: `"`, CR and LF become `%22`, `%0D` and `%0A`; all other
/// characters are sent in UTF-8.
///
/// `@unchecked Sendable`: mutable state is in a `Mutex`; `FileManager` is safe on many threads.
open class MultipartFormData: @unchecked Sendable {
    /// The size of the content from which a form is encoded in a temporary file: 10 MB. Smaller forms are encoded in
    /// memory.
    public static let encodingMemoryThreshold: UInt64 = 10_000_000

    /// The `Content-Type` of the body: `multipart/form-data` and the boundary.
    open var contentType: String { "multipart/form-data; boundary=\(Boundary.parameter(boundary))" }

    /// The size of all contents in bytes, without the boundaries and the header fields between them.
    public var contentLength: UInt64 {
        state.withLock { state in
            state.parts.reduce(0) { sum, part in
                let (more, overflows) = sum.addingReportingOverflow(part.length)
                return overflows ? .max : more
            }
        }
    }

    /// The boundary between the parts: 1 to 70 characters (RFC 2046 §5.1.1) that must not occur in any part.
    public let boundary: String

    let fileManager: FileManager
    private let state: Mutex<State>

    private struct State {
        var parts: [FormPart] = []
        /// The first error; later ones do not replace it.
        var failure: (any Error)?
    }

    /// Creates an empty form.
    ///
    /// - Parameters:
    ///   - fileManager: The file manager that finds files and temporary folders.
    ///   - boundary: The boundary; a random one by default. A boundary that RFC 2046 does not allow is reported when
    ///     the form is encoded.
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
    ///   - data: The content of the part.
    ///   - name: The name of the field.
    ///   - fileName: The file name that is sent with the part, if any.
    ///   - mimeType: The `Content-Type` of the part; `nil` sends none.
    public func append(_ data: Data, withName name: String, fileName: String? = nil, mimeType: String? = nil) {
        let headers = FormPart.headers(name: name, fileName: fileName, mimeType: mimeType)
        add(FormPart(headers: headers, content: .bytes(data), length: UInt64(data.count)))
    }

    /// Adds a file under its own name. Its extension determines the media type (`application/octet-stream` for an
    /// unknown one).
    ///
    /// A name without an extension is an error; `append(_:withName:fileName:mimeType:)` takes the file name and the
    /// type explicitly.
    public func append(_ fileURL: URL, withName name: String) {
        let fileName = fileURL.lastPathComponent
        let fileExtension = fileURL.pathExtension
        guard !fileName.isEmpty, !fileExtension.isEmpty else { return fail(.bodyPartFilenameInvalid(in: fileURL)) }
        append(
            fileURL, withName: name, fileName: fileName, mimeType: FileMediaType.of(fileExtension: fileExtension))
    }

    /// Adds a regular, readable file. It is opened again and read when the form is encoded or sent.
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
    ///   - stream: A stream that is not open. It is read once, and belongs to the form from now on.
    ///   - length: The number of bytes that are sent; bytes beyond them stay in the stream, and fewer are an error.
    ///   - name: The name of the field.
    ///   - fileName: The file name that is sent with the part.
    ///   - mimeType: The `Content-Type` of the part.
    public func append(
        _ stream: InputStream, withLength length: UInt64, name: String, fileName: String, mimeType: String
    ) {
        append(
            stream, withLength: length,
            headers: FormPart.headers(name: name, fileName: fileName, mimeType: mimeType))
    }

    /// Adds a stream with custom header fields, which must include `Content-Disposition` (RFC 7578 §4.2).
    ///
    /// - Parameters:
    ///   - stream: A stream that is not open. It is read once, and belongs to the form from now on.
    ///   - length: The number of bytes that are sent; bytes beyond them stay in the stream, and fewer are an error.
    ///   - headers: The header fields, sent in this order. Line breaks in them are sent as spaces.
    public func append(_ stream: InputStream, withLength length: UInt64, headers: HTTPHeaders) {
        add(FormPart(headers: headers, content: .stream(OneTimeStream(stream)), length: length))
    }

    /// - Throws: The first error that occurred when parts were added.
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
