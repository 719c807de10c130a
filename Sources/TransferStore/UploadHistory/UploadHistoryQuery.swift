import TransferCore
package import TransferJobs
import TransferWatch

/// The part of an upload history that a decision about offers needs. A store reads the versions with these keys, their
/// jobs, all jobs of the batch that follow others, and the jobs that they follow.
package struct UploadHistoryQuery: Sendable {
    package private(set) var versions: [(inode: Int64, size: Int64)] = []
    package private(set) var paths: [String] = []
    package private(set) var entries: [Int64] = []
    private let offers: [HistoryOffer]

    package init(_ offers: [HistoryOffer]) {
        self.offers = offers.filter { !$0.isNothing }
        for offer in self.offers {
            versions.append((offer.version.inodeBits, offer.version.size))
            paths.append(offer.version.path)
            if let row = offer.finding.row { entries.append(row) }
        }
    }

    /// Returns the URLs to which the offers may be uploaded, by the digests that are known now. Versions that name a
    /// job and go to one of these URLs are read too.
    package func urls(_ plan: WatchPlan, _ graph: UploadHistoryGraph) -> [String] {
        guard !plan.spec.upload.uploadProtocol.givesNames else { return [] }
        var urls = Set<String>()
        for offer in offers {
            var digests: [Checksum?] = [offer.finding.digest]
            if plan.needsDigest {
                digests += graph.entries.values.filter {
                    $0.id == offer.finding.row
                        || $0.version.inodeBits == offer.version.inodeBits && $0.version.size == offer.version.size
                }.map(\.digest)
            }
            for digest in digests { urls.insert(Redaction.url(plan.url(offer.version, digest: digest))) }
        }
        return urls.sorted()
    }
}

extension HistoryOffer.Finding {
    /// The row that the offer's finding names.
    fileprivate var row: Int64? {
        switch self {
        case .returned(let row), .touched(let row), .looked(let row, _), .rewritten(let row, _), .renumbered(let row),
            .another(let row, _):
            row
        case .nothing, .outdated, .new, .moved, .later, .otherName: nil
        }
    }

    fileprivate var digest: Checksum? {
        switch self {
        case .new(let digest), .rewritten(_, let digest), .another(_, let digest): digest
        default: nil
        }
    }
}
