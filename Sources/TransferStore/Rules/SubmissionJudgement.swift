package import TransferJobs

/// The decision which jobs of several callers are new to a batch. The jobs of one caller are taken all, or not at all.
package struct SubmissionJudgement {
    package enum Verdict {
        case taken(added: Int)
        /// - Parameter index: The index of the first job whose identity a job with other content has.
        case conflict(index: Int)

        /// Returns the outcome for a caller.
        ///
        /// - Parameter numbers: The numbers of the jobs by their identities, after all have been taken.
        package func result(of group: SubmissionGroup, numbers: [String: Int64]) -> SubmittedJobs {
            switch self {
            case .conflict(let index): .conflict(index: index, identity: group.jobs[index].identity)
            case .taken(let added): .taken(numbers: group.jobs.map { numbers[$0.identity] ?? 0 }, added: added)
            }
        }
    }

    /// Fingerprints of the jobs that are in the batch already, by their identities.
    private var known: [String: Int64]
    /// The jobs to take, in their order.
    package private(set) var new: [JobSpec] = []
    /// The submissions to remember with them.
    package private(set) var notes: [SubmissionNote] = []

    package init(known: [String: Int64]) { self.known = known }

    package mutating func judge(_ group: SubmissionGroup) -> Verdict {
        var added: [String: JobSpec] = [:]
        var inOrder: [JobSpec] = []
        for (index, spec) in group.jobs.enumerated() {
            let identity = spec.identity
            if let there = known[identity] ?? added[identity]?.fingerprint {
                guard there == spec.fingerprint else { return .conflict(index: index) }
            } else {
                added[identity] = spec
                inOrder.append(spec)
            }
        }
        for spec in inOrder { known[spec.identity] = spec.fingerprint }
        new += inOrder
        if let key = group.key {
            notes.append(SubmissionNote(key, identities: group.jobs.map(\.identity), added: inOrder.count))
        }
        return .taken(added: inOrder.count)
    }
}
