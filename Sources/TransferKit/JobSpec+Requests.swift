import Foundation
import FoundationNetworking
import TransferCore
public import TransferNetworking
public import TransferQueue

extension JobSpec {
    /// Makes a job with the effect of a download request.
    ///
    /// A job outlives the process, so that everything it needs must be storable. The destination's closure is therefore
    /// called now, with a response without fields. Interceptors, validations and handlers are not part of the job.
    ///
    /// - Parameters:
    ///   - request: A download that was not started.
    ///   - id: The job's name in its batch; `nil` takes the destination.
    /// - Throws: `TransferError` for a request that was started, has no destination, or continues from resume data. A
    ///   secret in the header fields is refused too, as a job's settings name secrets and never contain them.
    public init(_ request: DownloadRequest, id: String? = nil) throws {
        guard request.isInitialized else { throw TransferError(.internalFault, "the download was started already") }
        guard case .request(let convertible) = request.downloadable else {
            throw TransferError(.invalidResumeData, "a queue keeps its own resume data: hand it the request itself")
        }
        let urlRequest = try convertible.asURLRequest()
        let url = try urlRequest.absoluteURL()
        guard let destination = request.destination,
            let answer = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:])
        else { throw TransferError(.fileMissing, "a download in a queue needs a destination") }
        let (target, options) = destination(URL(fileURLWithPath: "/dev/null"), answer)
        let download = Download(
            urls: [url.absoluteString], destination: target.path,
            ifExists: options.contains(.removePreviousFile) ? .overwrite : .verify,
            method: urlRequest.method == .get ? nil : urlRequest.httpMethod,
            body: try urlRequest.textBody(), remoteTime: false)
        self.init(id: id, work: .download(download), settings: try urlRequest.jobSettings())
    }

    /// Makes a job with the effect of an upload request.
    ///
    /// - Throws: `TransferError` for a request that was started, sends bytes rather than a file, or has a secret in its
    ///   header fields.
    public init(_ request: UploadRequest, id: String? = nil) throws {
        guard request.isInitialized else { throw TransferError(.internalFault, "the upload was started already") }
        guard case .file(let file, shouldRemove: _) = request.uploadable else {
            throw TransferError(.fileMissing, "an upload in a queue needs a file: memory does not outlive the process")
        }
        let urlRequest = try request.convertible.asURLRequest()
        let method = urlRequest.method ?? .post
        let upload = Upload(
            source: file.path, url: try urlRequest.absoluteURL().absoluteString,
            uploadProtocol: method == .post ? .post : .put,
            method: method == .post || method == .put ? nil : method.rawValue)
        self.init(id: id, work: .upload(upload), settings: try urlRequest.jobSettings())
    }
}
