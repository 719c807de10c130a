import Testing
import TransferCore
import TransferWatch

@testable import TransferJobs
@testable import TransferStore

/// The effect of each observation of a file on the upload history: from the finding and the stored rows to the rows,
/// the jobs and their order.
@Suite struct UploadHistoryRuleTests {
    /// The file "a" of the history, and its job, as they are stored.
    enum Stored: CaseIterable {
        case nothing, confirmed, kept, gone, keptGone, open, underWay, paused, failed, mayHaveArrived, leftAlone
    }

    /// The rows and jobs afterwards, as text: `PATH@ROW STATE [JOB STATE [after JOB]]`, with `+` for new rows and jobs.
    static let rows: [(HistoryOffer.Finding, String, Stored, [String])] = [
        // Observations without news.
        (.nothing, "a", .confirmed, ["a@7 confirmed"]),
        (.outdated, "a", .confirmed, ["a@7 confirmed"]),
        (.later, "a", .underWay, ["a@7 open 9 claimed"]),
        (.otherName(of: "a"), "b", .confirmed, ["a@7 confirmed"]),
        // A file that was unknown.
        (.new(digest: nil), "b", .nothing, ["b@+ open + queued"]),
        (.new(digest: nil), "b", .confirmed, ["a@7 confirmed", "b@+ open + queued"]),
        // Another version of the same name. The newest version wins, and waits for a version that is under way.
        (.new(digest: nil), "a", .confirmed, ["a@7 confirmed", "a@+ open + queued"]),
        (.new(digest: nil), "a", .open, ["a@+ open + queued"]),
        (.new(digest: nil), "a", .underWay, ["a@7 open 9 claimed", "a@+ open + blocked after 9"]),
        (.new(digest: nil), "a", .paused, ["a@+ open + paused"]),
        (.new(digest: nil), "a", .failed, ["a@+ open + queued"]),
        (.new(digest: nil), "a", .mayHaveArrived, ["a@+ open + queued"]),
        // A file that was missing and has returned.
        (.returned(row: 7), "a", .gone, ["a@7 confirmed"]),
        (.returned(row: 7), "a", .keptGone, ["a@7 confirmed due"]),
        // The known file under another name. Sent bytes stay where they are, and the rest goes under the new name.
        (.moved, "m", .confirmed, ["m@7 confirmed renamed"]),
        (.moved, "m", .leftAlone, ["m@7 leftAlone"]),
        (.moved, "m", .open, ["m@7 open + queued"]),
        (.moved, "m", .underWay, ["m@7 open 9 claimed, + blocked after 9"]),
        (.moved, "m", .paused, ["m@7 open + paused"]),
        (.moved, "m", .failed, ["m@7 open + queued"]),
        (.moved, "m", .mayHaveArrived, ["m@7 failed 9 failed"]),
        // The known bytes with another time.
        (.touched(row: 7), "a", .confirmed, ["a@7 confirmed"]),
        (.touched(row: 7), "a", .open, ["a@7 open 9 queued"]),
        (.touched(row: 7), "a", .keptGone, ["a@7 confirmed due"]),
        (.looked(row: 7, changed: 5), "a", .confirmed, ["a@7 confirmed"]),
        // Other bytes under the known numbers.
        (.rewritten(row: 7, digest: nil), "a", .confirmed, ["a@+ open + queued"]),
        (.rewritten(row: 7, digest: nil), "a", .failed, ["a@+ open + queued"]),
        (.rewritten(row: 7, digest: nil), "a", .leftAlone, ["a@7 leftAlone"]),
        (.rewritten(row: 7, digest: nil), "a", .nothing, []),
        // The known file, after its file system changed its numbers.
        (.renumbered(row: 7), "a", .confirmed, ["a@7 confirmed"]),
        (.renumbered(row: 7), "a", .keptGone, ["a@7 confirmed due"]),
        // A new file with the inode of the known one.
        (.another(row: 7, digest: nil), "m", .confirmed, ["m@+ open + queued"]),
        (.another(row: 7, digest: nil), "m", .leftAlone, ["m@+ open + queued"]),
    ]

    @Test func eachFindingHasRows() {
        let names = Set(Self.rows.map { "\($0.0)".prefix { $0 != "(" } })
        #expect(names.count == 12, "\(names.sorted())")
    }

    @Test(arguments: rows)
    func anObservationChangesTheHistoryAsListed(
        _ finding: HistoryOffer.Finding, _ path: String, _ stored: Stored, _ expected: [String]
    ) throws {
        var rule = try rule(stored)
        rule.take([HistoryOffer(version: version(path, of: finding), finding: finding)])
        #expect(words(rule.graph) == expected)
        #expect(rule.changes.handled == 1)
    }

    /// A file whose mode changed is read once, and not at each later scan.
    @Test func theTimeOfAnUnchangedFileIsStored() throws {
        var rule = try rule(.confirmed)
        let finding = HistoryOffer.Finding.looked(row: 7, changed: 5)
        rule.take([HistoryOffer(version: version("a", of: finding), finding: finding)])
        #expect(rule.graph.entries[7]?.version.stamp.changed == 5)
        #expect(rule.graph.updatedEntries.map(\.id) == [7])
    }

    @Test func anOfferThatIsTakenTwiceIsStagedOnce() throws {
        for (finding, path, stored, _) in Self.rows {
            var rule = try rule(stored)
            let offer = HistoryOffer(version: version(path, of: finding), finding: finding)
            rule.take([offer])
            let (once, jobs) = (words(rule.graph), rule.graph.jobs.count)
            rule.take([offer])
            #expect(words(rule.graph) == once && rule.graph.jobs.count == jobs, "\(finding) \(stored)")
        }
    }

    @Test func aFullFolderTakesNoMore() throws {
        var rule = try rule(.nothing, open: WatchPlan.capacity - 1)
        rule.take(
            ["a", "b"].map { HistoryOffer(version: version($0, inode: $0 == "a" ? 1 : 2), finding: .new(digest: nil)) })
        #expect(rule.changes.handled == 1)
        #expect(words(rule.graph) == ["a@+ open + queued"])
    }

    @Test func aFollowerOfARemovedJobFollowsItsPredecessor() throws {
        var rule = try rule(.underWay)
        rule.take([HistoryOffer(version: version("a", inode: 2), finding: .new(digest: nil))])
        rule.take([HistoryOffer(version: version("a", inode: 3), finding: .new(digest: nil))])
        #expect(words(rule.graph) == ["a@7 open 9 claimed", "a@+ open + blocked after 9"])
        #expect(rule.changes.ready.isEmpty && rule.changes.added == 1)
    }

    @Test func jobsOfAPausedFolderArePaused() throws {
        var rule = try rule(.nothing, isPaused: true)
        rule.take([HistoryOffer(version: version("a"), finding: .new(digest: nil))])
        #expect(words(rule.graph) == ["a@+ open + paused"])
        #expect(rule.changes.ready.isEmpty)
    }

    @Test func aHardLinkOfAPresentFileIsAnotherNameOfTheFile() throws {
        var rule = try rule(.confirmed, isThere: true)
        rule.take([HistoryOffer(version: version("m"), finding: .new(digest: nil))])
        #expect(words(rule.graph) == ["a@7 confirmed"])
        #expect(rule.changes.otherNames.map(\.name) == ["m"])
    }

    // MARK: Fixtures

    private func version(_ path: String, inode: UInt64 = 1) -> FileVersion {
        FileVersion(device: 1, inode: inode, size: 3, modified: 10, path: path, changed: 10)
    }

    /// A version that fits the finding: a new file has an inode of its own.
    private func version(_ path: String, of finding: HistoryOffer.Finding) -> FileVersion {
        switch finding {
        case .new: version(path, inode: 2)
        case .touched: FileVersion(device: 1, inode: 1, size: 3, modified: 11, path: path, changed: 11)
        default: version(path)
        }
    }

    private func rule(
        _ stored: Stored, open: Int = 0, isPaused: Bool = false, isThere: Bool = false
    ) throws -> UploadHistoryRule {
        let plan = try WatchPlan(WatchSpec(folder: "/in", url: "http://h.example/in/{name}"))
        var graph = UploadHistoryGraph()
        let (state, job): (HistoryState, JobState?) =
            switch stored {
            case .nothing, .confirmed, .kept, .gone, .keptGone: (.confirmed, nil)
            case .open: (.open, .queued)
            case .underWay: (.open, .claimed)
            case .paused: (.open, .paused)
            case .failed, .mayHaveArrived: (.failed, .failed)
            case .leftAlone: (.leftAlone, nil)
            }
        if stored != .nothing {
            graph.load(
                UploadHistoryEntry(
                    id: 7, version: version("a"), url: "http://h.example/in/a", state: state, job: job.map { _ in 9 },
                    due: stored == .kept || stored == .keptGone ? 5 : nil,
                    gone: stored == .gone || stored == .keptGone ? 4 : nil))
        }
        if let job {
            graph.load(
                UploadHistoryJob(
                    id: 9, entry: 7, identity: "a@7", state: job, lane: Lane(batch: 1, origin: "http://h.example"),
                    destination: "http://h.example/in/a", mayHaveArrived: stored == .mayHaveArrived))
        }
        let there = version("a").stamp
        return UploadHistoryRule(plan, batch: 1, graph: graph, open: open, isPaused: isPaused, now: 1) { path in
            isThere && path == "a" ? there : nil
        }
    }

    private func words(_ graph: UploadHistoryGraph) -> [String] {
        func number(_ id: Int64) -> String { UploadHistoryGraph.isNew(id) ? "+" : "\(id)" }
        return graph.entries.values.sorted { $0.id < $1.id }.map { entry in
            let jobs = graph.jobs(ofEntry: entry.id).map { job in
                "\(number(job.id)) \(job.state)" + (job.follows.map { " after \(number($0))" } ?? "")
            }
            var words = ["\(entry.version.path)@\(number(entry.id)) \(entry.state)"]
            if entry.isKept { words.append("due") }
            if entry.isRenamed { words.append("renamed") }
            if !jobs.isEmpty { words.append(jobs.joined(separator: ", ")) }
            return words.joined(separator: " ")
        }
    }
}
