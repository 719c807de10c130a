import Foundation
import FoundationNetworking
import TransferCore
import TransferNetworking
import TransferQueue

/// The parts of a request that a job keeps.
extension URLRequest {
    func absoluteURL() throws -> URL {
        guard let url else { throw TransferError(.badURL, "the request has no URL") }
        return url
    }

    func textBody() throws -> String? {
        guard let httpBody else { return nil }
        guard let text = String(data: httpBody, encoding: .utf8) else {
            throw TransferError(.internalFault, "the body of a queued download must be text")
        }
        return text
    }

    func jobSettings() throws -> JobSettings {
        var settings = JobSettings()
        for header in headers.sorted() {
            guard !Redaction.isSecretHeader(header.name) else {
                throw TransferError(
                    .secretMissing,
                    "\(header.name) cannot be stored with a job; name it in the settings of a JobSpec instead")
            }
            settings.headers.append(.init(name: header.name, value: .literal(header.value)))
        }
        // The default of URLRequest and of the queue is 60 s.
        if timeoutInterval > 0, timeoutInterval != 60 { settings.timeout = .seconds(min(timeoutInterval, 1e9)) }
        return settings
    }
}
