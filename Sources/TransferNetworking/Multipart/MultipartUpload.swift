import Foundation
import FoundationNetworking
import Synchronization
import TransferCore

/// A form that is encoded for an upload, in memory or in a temporary file, depending on its size.
///
/// The temporary file exists until `cleanUp()`, which an upload calls at every end, or until this object is released.
final class MultipartUpload: URLRequestConvertible, Sendable {
    enum Encoded: Sendable, Equatable {
        case data(Data)
        /// The form is in a temporary file, which `cleanUp()` removes.
        case file(URL)
    }

    let multipartFormData: MultipartFormData
    private let encodingMemoryThreshold: UInt64
    private let request: any URLRequestConvertible
    private let temporaryFolder: URL
    /// The result of the encoding. The lock is held meanwhile, so that a second caller waits and gets the same result.
    private let encoding = Mutex<Result<Encoded, any Error>?>(nil)
    private let ending = Mutex(Ending())

    private struct Ending {
        var hasEnded = false
        var file: TemporaryFormFile?
    }

    /// - Parameters:
    ///   - encodingMemoryThreshold: The size of the content, in bytes, from which a temporary file is used.
    ///   - temporaryFolder: The folder in which the file's own folder is made; the file manager's by default.
    init(
        encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        request: any URLRequestConvertible, multipartFormData: MultipartFormData, temporaryFolder: URL? = nil
    ) {
        self.encodingMemoryThreshold = encodingMemoryThreshold
        self.request = request
        self.multipartFormData = multipartFormData
        self.temporaryFolder = temporaryFolder ?? multipartFormData.fileManager.temporaryDirectory
    }

    /// Returns the request with the form's `Content-Type` in place of its own, as only the former names the boundary.
    func asURLRequest() throws -> URLRequest {
        var urlRequest = try request.asURLRequest()
        urlRequest.setValue(multipartFormData.contentType, forHTTPHeaderField: "Content-Type")
        return urlRequest
    }

    /// Encodes the form once; later calls, as of a retry, return the same result. Blocks, and is therefore for workers.
    ///
    /// - Throws: `AFError.multipartEncodingFailed`; `AFError.explicitlyCancelled` after `cleanUp()`.
    func makeUploadable() throws -> Encoded {
        try encoding.withLock { result in
            guard !ending.withLock({ $0.hasEnded }) else { throw AFError.explicitlyCancelled }
            if let result { return try result.get() }
            let made = Result { try encode() }
            result = made
            return try made.get()
        }
    }

    /// Returns the form for the engine, which reads it while sending, without a temporary file at any size.
    func makeBody() throws -> MultipartBody { try MultipartBody(multipartFormData) }

    /// Removes the temporary file now, and stops an encoding in progress. Must be called at every end.
    func cleanUp() {
        let file = ending.withLock { ending in
            defer { ending = Ending(hasEnded: true) }
            return ending.file
        }
        file?.remove()
    }

    private func encode() throws -> Encoded {
        guard multipartFormData.contentLength >= encodingMemoryThreshold else {
            return .data(try multipartFormData.encode())
        }
        let form = try multipartFormData.segments()
        let file = try TemporaryFormFile(in: temporaryFolder, fileManager: multipartFormData.fileManager)
        do {
            try ending.withLock { ending in
                guard !ending.hasEnded else { throw AFError.explicitlyCancelled }
                ending.file = file
            }
            try MultipartFormData.write(form, to: file.url, mode: 0o600) {
                if ending.withLock({ $0.hasEnded }) { throw AFError.explicitlyCancelled }
            }
            return .file(file.url)
        } catch {
            file.remove()
            throw error
        }
    }
}
