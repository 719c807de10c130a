import Foundation
import FoundationNetworking

/// The parts of an upload.
struct UploadParts: UploadConvertible {
    enum Source: Sendable {
        case ready(UploadRequest.Uploadable)
        /// The body is read from a new stream each time it is sent.
        @preconcurrency
        case streams(@Sendable () throws -> InputStream)
        /// The body is a form.
        ///
        /// - Parameter fill: A closure that adds the form's parts.
        @preconcurrency
        case form(MultipartUpload, fill: (@Sendable (MultipartFormData) -> Void)?)
    }

    let request: any URLRequestConvertible
    let source: Source

    func asURLRequest() throws -> URLRequest {
        if case .form(let form, _) = source { return try form.asURLRequest() }
        return try request.asURLRequest()
    }

    func createUploadable() throws -> UploadRequest.Uploadable {
        switch source {
        case .ready(let uploadable): return uploadable
        case .streams(let makeStream): return .stream(try makeStream())
        case .form(let form, let fill):
            fill?(form.multipartFormData)
            switch try form.makeUploadable() {
            case .data(let data): return .data(data)
            case .file(let url): return .file(url, shouldRemove: true)
            }
        }
    }

    /// The body, if it exists without being created first.
    var ready: UploadRequest.Uploadable? {
        if case .ready(let uploadable) = source { return uploadable }
        return nil
    }

    var makeStream: (@Sendable () throws -> InputStream)? {
        if case .streams(let makeStream) = source { return makeStream }
        return nil
    }

    /// Removes temporary files at the end of the request.
    func cleanUp() {
        if case .form(let form, _) = source { form.cleanUp() }
    }
}
