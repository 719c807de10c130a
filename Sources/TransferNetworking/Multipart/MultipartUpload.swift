import Foundation
import FoundationNetworking
import Synchronization
import TransferCore

/// A form on its way into an upload: encoded in memory or in a temporary file, whichever its size asks for.
///
/// The temporary file lives until `cleanUp()`, which an upload calls however it ends, or as long as this object.
final class MultipartUpload: URLRequestConvertible, Sendable {
    enum Encoded: Sendable, Equatable {
        case data(Data)
        /// A temporary file: `cleanUp()` removes it.
        case file(URL)
    }

    let multipartFormData: MultipartFormData
    private let encodingMemoryThreshold: UInt64
    private let request: any URLRequestConvertible
    private let temporaryFolder: URL
    /// Held while the form is encoded: whoever comes second waits and gets the same.
    private let encoding = Mutex<Result<Encoded, any Error>?>(nil)
    private let ending = Mutex(Ending())

    private struct Ending {
        var hasEnded = false
        var file: TemporaryFormFile?
    }

    /// - Parameters:
    ///   - encodingMemoryThreshold: Bytes of content from which on a temporary file is used.
    ///   - temporaryFolder: Where that file's own folder is made; the file manager's unless given.
    init(
        encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        request: any URLRequestConvertible, multipartFormData: MultipartFormData, temporaryFolder: URL? = nil
    ) {
        self.encodingMemoryThreshold = encodingMemoryThreshold
        self.request = request
        self.multipartFormData = multipartFormData
        self.temporaryFolder = temporaryFolder ?? multipartFormData.fileManager.temporaryDirectory
    }

    /// The request with the form's `Content-Type` instead of its own, as only that names the boundary.
    func asURLRequest() throws -> URLRequest {
        var urlRequest = try request.asURLRequest()
        urlRequest.setValue(multipartFormData.contentType, forHTTPHeaderField: "Content-Type")
        return urlRequest
    }

    /// Encodes the form, once; later calls, of a retry, give the same. Blocks: for workers.
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

    /// The form for the engine, read as it's sent: no temporary file, whatever the size.
    func makeBody() throws -> MultipartBody { try MultipartBody(multipartFormData) }

    /// Removes the temporary file now, and stops encoding if that is under way. To be called at every end.
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
