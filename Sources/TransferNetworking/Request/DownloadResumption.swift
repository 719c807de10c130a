public import Foundation
import FoundationNetworking
public import TransferCore

/// The data from which a new process continues a download: the request, and the received bytes of a version.
///
/// The value holds the URL with its query and the request's header fields unchanged, as the download could not be
/// continued without them. It must be kept as safely as those.
public struct DownloadResumption: Sendable, Hashable, Codable {
    /// The version of the format; 1.
    public var version = 1
    /// The URL of the request, with its query.
    public var url: String
    /// The method of the request.
    public var method: String
    /// The header fields of the request.
    public var headers: [HeaderField]
    /// The partial file, and the version that its bytes belong to.
    public var resume: ResumeData

    init(_ request: URLRequest, _ resume: ResumeData) {
        url = request.url?.absoluteString ?? ""
        method = request.httpMethod ?? "GET"
        headers = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }.map { HeaderField($0.key, $0.value) }
        self.resume = resume
    }

    /// Reads resume data.
    ///
    /// - Throws: `TransferError` when `data` was not produced by a `DownloadRequest`.
    public init(_ data: Data) throws {
        do {
            self = try JSONDecoder().decode(Self.self, from: data)
        } catch {
            throw TransferError(.invalidResumeData, "this is no resume data of a download")
        }
        guard version == 1, resume.partialFile != nil else {
            throw TransferError(.invalidResumeData, "this resume data is of another version (\(version))")
        }
    }

    /// The value in the form of `DownloadRequest.resumeData`.
    public var data: Data? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try? encoder.encode(self)
    }

    func makeURLRequest() throws -> URLRequest {
        try URLRequest(
            url: url, method: HTTPMethod(rawValue: method),
            headers: HTTPHeaders(headers.map { HTTPHeader(name: $0.name, value: $0.value) }))
    }
}

extension TransferError.Code {
    /// The code of the error for data that are not resume data, or are of another version.
    public static let invalidResumeData = Self(rawValue: "invalidResumeData")
}
