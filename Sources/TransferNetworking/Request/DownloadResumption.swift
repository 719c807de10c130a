public import Foundation
import FoundationNetworking
public import TransferCore

/// The data with which a new process goes on with a download: the request, and which bytes of which version are there.
///
/// The value holds the URL with its query and the request's header fields as they were given, because the download
/// could not be continued without them: keep it as you would keep those.
public struct DownloadResumption: Sendable, Hashable, Codable {
    /// The form of the data; 1.
    public var version = 1
    public var url: String
    public var method: String
    public var headers: [HeaderField]
    public var resume: ResumeData

    init(_ request: URLRequest, _ resume: ResumeData) {
        url = request.url?.absoluteString ?? ""
        method = request.httpMethod ?? "GET"
        headers = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }.map { HeaderField($0.key, $0.value) }
        self.resume = resume
    }

    /// - Throws: `TransferError` when `data` isn't what a `DownloadRequest` produced.
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

    /// The form in which a `DownloadRequest` hands it out.
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
    public static let invalidResumeData = Self(rawValue: "invalidResumeData")
}
