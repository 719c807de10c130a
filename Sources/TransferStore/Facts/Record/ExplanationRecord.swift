import TransferCore
package import TransferJobs

/// An explanation as programs on other machines get it: one object of plain values, from which the explanation is made
/// again. Durations are seconds.
package struct ExplanationRecord: Codable, Sendable {
    package var subject: SubjectRecord
    let reason: ReasonRecord
    package var course: CourseRecord
    private var hooks: HooksRecord

    /// - Parameter troubles: Hooks of the job and of its batch that could not be called.
    package init(_ explanation: JobExplanation, troubles: [HookTrouble] = []) {
        hooks = HooksRecord(troubles)
        subject = SubjectRecord(explanation)
        reason = ReasonRecord(explanation.reason)
        course = CourseRecord(explanation)
    }

    /// - Throws: `DecodingError` for an object that is no explanation.
    package init(from decoder: any Decoder) throws {
        subject = try SubjectRecord(from: decoder)
        reason = try ReasonRecord(from: decoder)
        course = try CourseRecord(from: decoder)
        hooks = try HooksRecord(from: decoder)
    }

    // Writes all parts as members of one object.
    package func encode(to encoder: any Encoder) throws {
        try subject.encode(to: encoder)
        try reason.encode(to: encoder)
        try course.encode(to: encoder)
        try hooks.encode(to: encoder)
    }

    /// Hooks of the job and of its batch that could not be called.
    package var troubles: [HookTrouble] { hooks.troubles }

    /// - Returns: `nil` for a state or a reason that this version does not know.
    package var explanation: JobExplanation? {
        guard let state = StateName.state(subject.state), let reason = reason.reason(in: subject.state) else {
            return nil
        }
        var explanation = JobExplanation(
            batch: subject.batch, job: subject.id, state: state, isUpload: subject.direction == "upload",
            reason: reason)
        explanation.congestion = course.congestion
        subject.tell(&explanation)
        course.tell(&explanation)
        return explanation
    }

    /// Replaces the URLs by what `shown` returns, for readers who may not see their queries.
    package mutating func hideQueries(_ shown: (String) -> String) {
        subject.url = subject.url.map(shown)
        subject.to = subject.to.map(shown)
        subject.finalURL = subject.finalURL.map(shown)
        course.sources = course.sources?.map { source in
            var source = source
            source.url = shown(source.url)
            return source
        }
    }
}

/// The job that an explanation is about.
package struct SubjectRecord: Codable, Sendable {
    /// The job's name at the service.
    package var gid: String?
    let batch: String
    let id: String
    let state: String
    let direction: String
    var url: String?
    var to: String?
    let insecure: Bool?
    var finalURL: String?

    init(_ explanation: JobExplanation) {
        let path: String? = if case .done(let path) = explanation.reason, !path.isEmpty { path } else { nil }
        let words = explanation.route?.words(path: path)
        batch = explanation.batch
        id = explanation.job
        state = StateName.name(explanation)
        direction = explanation.isUpload ? "upload" : "download"
        (url, to) = (words?.url, words?.to)
        insecure = explanation.route?.isInsecure == true ? true : nil
        finalURL = explanation.finalURL
    }

    func tell(_ explanation: inout JobExplanation) {
        explanation.finalURL = finalURL
        if let url, let to { explanation.route = JobRoute(url: url, to: to, isInsecure: insecure ?? false) }
    }
}

/// Names of states, as a service uses them.
enum StateName {
    static func name(_ explanation: JobExplanation) -> String {
        if case .running = explanation.reason { return "running" }
        return explanation.state.name
    }

    static func state(_ name: String) -> JobState? {
        name == "running" ? .claimed : JobState.allCases.first { $0.name == name }
    }
}
