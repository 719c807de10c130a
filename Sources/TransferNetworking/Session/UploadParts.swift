import Foundation
import FoundationNetworking

/// An upload as its parts.
struct UploadParts: UploadConvertible {
    enum Source: Sendable {
        case ready(UploadRequest.Uploadable)
        /// Makes a stream for each time the body is sent.
        @preconcurrency
        case streams(@Sendable () throws -> InputStream)
        /// - Parameter fill: Adds the form's parts.
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

    /// What is sent, where nothing has to be made first.
    var ready: UploadRequest.Uploadable? {
        if case .ready(let uploadable) = source { return uploadable }
        return nil
    }

    var makeStream: (@Sendable () throws -> InputStream)? {
        if case .streams(let makeStream) = source { return makeStream }
        return nil
    }

    /// The request has come to its end: temporary files go.
    func cleanUp() {
        if case .form(let form, _) = source { form.cleanUp() }
    }
}
