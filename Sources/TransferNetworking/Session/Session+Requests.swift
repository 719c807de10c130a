import Foundation
import FoundationNetworking

// The creation of requests from their parts.
extension Session {
    func parts<Parameters: Encodable & Sendable>(
        _ url: any URLConvertible, _ method: HTTPMethod, _ headers: HTTPHeaders?, _ modify: RequestModifier?,
        _ parameters: Parameters?, _ encoder: any ParameterEncoder
    ) -> RequestParts {
        var parts = RequestParts(url: url, method: method, headers: headers, modify: modify)
        if let parameters { parts.encode = { try encoder.encode(parameters, into: $0) } }
        return parts
    }

    func parts(
        _ url: any URLConvertible, _ method: HTTPMethod, _ headers: HTTPHeaders?, _ modify: RequestModifier?,
        _ parameters: Parameters?, _ encoding: any ParameterEncoding
    ) -> RequestParts {
        var parts = RequestParts(url: url, method: method, headers: headers, modify: modify)
        if let parameters { parts.encode = { try encoding.encode($0, with: parameters) } }
        return parts
    }

    func form(
        _ form: MultipartFormData, _ fill: (@Sendable (MultipartFormData) -> Void)?,
        _ request: any URLRequestConvertible, _ threshold: UInt64, _ options: RequestOptions
    ) -> UploadRequest {
        let upload = MultipartUpload(
            encodingMemoryThreshold: threshold, request: request, multipartFormData: form,
            temporaryFolder: URL(fileURLWithPath: settings.temporaryFolder))
        return self.upload(.form(upload, fill: fill), request, options, form.fileManager)
    }

    func upload(
        _ source: UploadParts.Source, _ request: any URLRequestConvertible, _ options: RequestOptions,
        _ fileManager: FileManager
    ) -> UploadRequest {
        made(
            UploadRequest(
                UploadParts(request: request, source: source), session: self, options,
                fileManager: delegate.manager(insteadOf: fileManager)))
    }
}
