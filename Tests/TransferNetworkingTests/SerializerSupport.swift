import Foundation
import FoundationNetworking
import Testing
import TransferTestSupport

@testable import TransferNetworking

/// Returns the head of an answer as a serializer receives it.
func answerHead(_ status: Int = 200, type: String? = nil) throws -> HTTPURLResponse {
    let url = try #require(URL(string: "http://a.example/x"))
    return try #require(
        HTTPURLResponse(
            url: url, statusCode: status, httpVersion: nil, headerFields: type.map { ["Content-Type": $0] }))
}

func emptyRequest(_ method: HTTPMethod) throws -> URLRequest {
    try URLRequest(url: "http://a.example/x", method: method)
}

extension DataResponseSerializerProtocol {
    func value(_ text: String) throws -> SerializedObject { try value(Data(text.utf8)) }

    func value(
        _ data: Data?, method: HTTPMethod = .get, status: Int = 200, type: String? = nil, error: AFError? = nil
    ) throws -> SerializedObject {
        try serialize(request: emptyRequest(method), response: answerHead(status, type: type), data: data, error: error)
    }
}

/// Returns the reason why a serialization failed.
func failureReason(_ serialize: () throws -> some Any) -> AFError.ResponseSerializationFailureReason? {
    do {
        _ = try serialize()
        return nil
    } catch {
        guard case .responseSerializationFailed(let reason)? = error as? AFError else { return nil }
        return reason
    }
}
