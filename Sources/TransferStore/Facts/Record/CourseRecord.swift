import TransferCore
import TransferJobs

/// The state of a job's work, as an explanation shows it beside the reason.
package struct CourseRecord: Codable, Sendable {
    struct Held: Codable, Sendable {
        let bytes: Int64
        let total: Int64?
        let path: String
    }

    struct Sent: Codable, Sendable {
        let bytes: Int64
        let total: Int64
        let `protocol`: String
    }

    struct Rule: Codable, Sendable {
        let rule: String
        let place: String?
    }

    struct Link: Codable, Sendable {
        let name: String
        let verdict: String
    }

    let waited: Double?
    let held: Held?
    let sent: Sent?
    let congestion: String?
    var sources: [SourceRecord]?
    let rules: [Rule]?
    let links: [Link]?
    let last: String?
    let attempts: Int
    let limit: Int
    let settles: Int64?
    let starts: String?
    let pid: Int32?
    let source: String?

    init(_ explanation: JobExplanation) {
        waited = explanation.waited?.inSeconds
        held = explanation.held.map { Held(bytes: $0.bytes, total: $0.total, path: $0.path) }
        sent = explanation.sent.map { Sent(bytes: $0.bytes, total: $0.total, protocol: $0.uploadProtocol) }
        congestion = explanation.congestion
        sources = explanation.sources.isEmpty ? nil : explanation.sources.map { SourceRecord($0) }
        rules = explanation.rules.isEmpty ? nil : explanation.rules.map { Rule(rule: $0.text, place: $0.place) }
        links = explanation.links.isEmpty ? nil : explanation.links.map { Link(name: $0.name, verdict: $0.verdict) }
        last = explanation.lastError
        attempts = explanation.attempts
        limit = explanation.attemptLimit
        settles = explanation.settles
        starts = explanation.starts
        pid = explanation.pid
        source = explanation.source
    }

    func tell(_ explanation: inout JobExplanation) {
        explanation.waited = waited.map { Duration(declaredSeconds: $0) }
        explanation.held = held.map { JobExplanation.Held(bytes: $0.bytes, total: $0.total, path: $0.path) }
        explanation.sent = sent.map {
            JobExplanation.Sent(bytes: $0.bytes, total: $0.total, uploadProtocol: $0.protocol)
        }
        explanation.sources = (sources ?? []).map(\.source)
        explanation.rules = (rules ?? []).map { JobExplanation.Rule(text: $0.rule, place: $0.place) }
        explanation.links = (links ?? []).map { JobExplanation.Link(name: $0.name, verdict: $0.verdict) }
        explanation.lastError = last
        explanation.attempts = attempts
        explanation.attemptLimit = limit
        explanation.settles = settles
        explanation.starts = starts
        explanation.pid = pid
        explanation.source = source
    }
}

/// A source of a download that has several, as an explanation shows it.
package struct SourceRecord: Codable, Sendable {
    var url: String
    let connections: Int
    let bytes: Int64
    let rate: Int64?
    let state: JobSource.State
    let cause: JobSource.Cause?
    let reason: String?
    let again: Double?

    init(_ source: JobSource) {
        url = source.url
        connections = source.connections
        bytes = source.bytes
        rate = source.rate
        state = source.state
        cause = source.fault?.cause
        reason = source.fault?.message
        again = source.again?.inSeconds
    }

    var source: JobSource {
        JobSource(
            url: url, connections: connections, bytes: bytes, rate: rate, state: state,
            fault: cause.map { JobSource.Fault($0, reason ?? "") }, again: again.map { Duration(declaredSeconds: $0) })
    }
}
