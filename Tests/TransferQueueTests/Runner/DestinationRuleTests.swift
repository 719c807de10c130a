import Testing
import TransferCore

@testable import TransferJobs

/// Every case in which a download may end as kept, and every case in which it may not. The axes are the state of the
/// destination × the record and the job's checksum × the answer.
@Suite struct DestinationRuleTests {
    typealias Rule = DestinationRule

    /// The cases without special conditions: `ifExists`, the origin of the file, the result of the digest.
    static let plain: [(JobSpec.IfExists, Rule.Standing, Rule.DigestVerdict, Rule.Answer)] = [
        (.verify, .recorded, .none, .fetch), (.verify, .recorded, .right, .keep), (.verify, .recorded, .wrong, .fetch),
        (.verify, .noted, .none, .ask), (.verify, .noted, .right, .keep), (.verify, .noted, .wrong, .fetch),
        (.verify, .touched, .none, .ask), (.verify, .touched, .right, .keep), (.verify, .touched, .wrong, .fetch),
        (.verify, .foreign, .none, .refuse(.unknown)), (.verify, .foreign, .right, .keep),
        (.verify, .foreign, .wrong, .refuse(.otherDigest)),
        (.update, .recorded, .none, .ask), (.update, .recorded, .right, .keep), (.update, .recorded, .wrong, .fetch),
        (.update, .noted, .none, .ask), (.update, .noted, .right, .keep), (.update, .noted, .wrong, .fetch),
        (.update, .touched, .none, .fetch), (.update, .touched, .right, .keep), (.update, .touched, .wrong, .fetch),
        (.update, .foreign, .none, .fetch), (.update, .foreign, .right, .keep), (.update, .foreign, .wrong, .fetch),
    ]

    @Test(arguments: plain.indices) func theDigestAndTheRecordDecide(_ index: Int) {
        let (word, standing, digest, answer) = Self.plain[index]
        #expect(Rule.answer(.init(word: word, standing: standing, digest: digest)) == answer)
    }

    @Test(arguments: Rule.Standing.allCases, Rule.DigestVerdict.allCases)
    func valuesThatReadNoFileAnswerAlike(_ standing: Rule.Standing, _ digest: Rule.DigestVerdict) {
        func answer(_ word: JobSpec.IfExists) -> Rule.Answer {
            Rule.answer(.init(word: word, standing: standing, digest: digest))
        }
        #expect(answer(.overwrite) == .overwrite)
        #expect(answer(.skip) == .leave)
        #expect(answer(.fail) == .refuse(.exists))
        #expect(answer(.rename) == (standing == .recorded ? .fetch : .rename))
    }

    /// A process died with the job and left no partial file: the file may be its finished and unrecorded work.
    @Test(
        arguments: [
            (.verify, .foreign, .none, .compare), (.verify, .foreign, .right, .keep),
            (.verify, .foreign, .wrong, .refuse(.otherDigest)),
            (.verify, .noted, .none, .ask), (.verify, .touched, .none, .ask),
            (.fail, .foreign, .none, .refuse(.exists)), (.fail, .noted, .none, .ask), (.fail, .touched, .right, .keep),
            (.rename, .foreign, .none, .rename), (.rename, .noted, .none, .ask), (.rename, .touched, .wrong, .fetch),
            (.update, .foreign, .none, .fetch), (.skip, .foreign, .none, .leave),
        ] as [(JobSpec.IfExists, Rule.Standing, Rule.DigestVerdict, Rule.Answer)])
    func nothingIsTrustedAfterADeath(
        _ word: JobSpec.IfExists, _ standing: Rule.Standing, _ digest: Rule.DigestVerdict, _ answer: Rule.Answer
    ) {
        let question = Rule.Question(
            word: word, standing: standing, digest: digest, mayBeUnrecorded: true, mayCompare: true)
        #expect(Rule.answer(question) == answer)
    }

    /// The file may be the work of one process, and the partial file that of a different process, which died during the
    /// comparison.
    @Test func anInterruptedComparisonContinues() {
        let question = Rule.Question(word: .verify, standing: .foreign, mayCompare: true)
        #expect(Rule.answer(question) == .compare)
    }

    /// `--refresh` and `--verify` apply to files that match the record, with every value of `ifExists`.
    @Test(arguments: JobSpec.IfExists.allCases, Rule.DigestVerdict.allCases)
    func aRecheckOfARecordedFileFollowsItsOption(_ word: JobSpec.IfExists, _ digest: Rule.DigestVerdict) {
        for (recheck, answer) in [(Rule.Recheck.ask, Rule.Answer.ask), (.fetch, .fetch)] {
            let question = Rule.Question(word: word, standing: .recorded, digest: digest, recheck: recheck)
            #expect(Rule.answer(question) == answer)
            #expect(!Rule.needsDigest(question), "read for nothing")
        }
        let changed = Rule.Question(
            word: word, standing: .foreign, digest: digest, recheck: .ask, hasRecord: true)
        var plain = changed
        plain.recheck = .no
        #expect(Rule.answer(changed) == Rule.answer(plain), "the file is another one by now")
    }

    /// The end "kept", and a query that leads to it, need the right digest, or our own record of the version.
    @Test func nothingIsKeptWithoutAProof() {
        for word in JobSpec.IfExists.allCases {
            for standing in Rule.Standing.allCases {
                for digest in Rule.DigestVerdict.allCases {
                    for recheck in Rule.Recheck.allCases {
                        for mayBeUnrecorded in [false, true] {
                            let question = Rule.Question(
                                word: word, standing: standing, digest: digest, recheck: recheck,
                                mayBeUnrecorded: mayBeUnrecorded)
                            let answer = Rule.answer(question)
                            if answer == .keep { #expect(digest == .right, "\(question)") }
                            if answer == .ask { #expect(standing != .foreign, "\(question)") }
                            if answer == .ask, recheck != .ask { #expect(digest != .wrong, "\(question)") }
                        }
                    }
                }
            }
        }
    }

    /// A partial file of another tool is continued where nothing else is known of the file.
    @Test(
        arguments: [
            (.verify, .foreign, .wrong, false, .adopt), (.verify, .foreign, .none, false, .adopt),
            (.verify, .foreign, .right, false, .keep), (.verify, .foreign, .wrong, true, .refuse(.otherDigest)),
            (.verify, .foreign, .none, true, .refuse(.changed)), (.verify, .noted, .wrong, false, .fetch),
            (.update, .foreign, .wrong, false, .fetch), (.rename, .foreign, .none, false, .rename),
            (.fail, .foreign, .wrong, false, .refuse(.exists)), (.skip, .foreign, .wrong, false, .leave),
        ] as [(JobSpec.IfExists, Rule.Standing, Rule.DigestVerdict, Bool, Rule.Answer)])
    func aPossibleBeginningIsContinued(
        _ word: JobSpec.IfExists, _ standing: Rule.Standing, _ digest: Rule.DigestVerdict, _ hasRecord: Bool,
        _ answer: Rule.Answer
    ) {
        for mayBeUnrecorded in [false, true] where word == .verify && standing == .foreign {
            let question = Rule.Question(
                word: word, standing: standing, digest: digest, hasRecord: hasRecord,
                mayBeUnrecorded: mayBeUnrecorded && !hasRecord, mayBegin: true)
            #expect(Rule.answer(question) == answer)
        }
        let question = Rule.Question(
            word: word, standing: standing, digest: digest, hasRecord: hasRecord, mayBegin: true)
        #expect(Rule.answer(question) == answer)
    }

    @Test func changedFilesDifferFromUnknownFiles() {
        let question = Rule.Question(word: .verify, standing: .foreign, hasRecord: true)
        #expect(Rule.answer(question) == .refuse(.changed))
    }

    @Test func messagesNameTheLosslessOptionFirst() throws {
        for refusal in [Rule.Refusal.unknown, .changed, .otherDigest] {
            let message = refusal.error("/x", nil).message
            let update = try #require(message.firstRange(of: "\"update\""))
            for word in ["\"rename\"", "\"skip\""] {
                let other = try #require(message.firstRange(of: word))
                #expect(other.lowerBound < update.lowerBound, "\(message)")
            }
        }
        #expect(Rule.Refusal.unknown.error("/x", nil).message.contains("write its \"checksum\""))
    }
}
