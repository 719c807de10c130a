import Foundation
import Testing
import TransferCore
import TransferCrypto
import TransferJobs
import TransferTestSupport

@testable import TransferQueue

/// Secrets of jobs that clients wrote out, on their way through a store.
@Suite struct JobSealerTests {
    private let key = SealingKey(bytes: [UInt8](repeating: 7, count: 32))
    private let other = SealingKey(bytes: [UInt8](repeating: 8, count: 32))

    private var job: JobSpec {
        var spec = JobSpec.download("https://h.example/a?X-Amz-Signature=0123456789abcdef", to: "a")
        spec.settings.headers = [.init(name: "Cookie", value: .literal("session=abc"))]
        return spec
    }

    @Test func aSealedJobHoldsNoSecretAndIsTheSameJob() throws {
        let sealer = JobSealer(try #require(key), isShared: false)
        let sealed = try sealer.sealed(job)
        let text = sealed.canonicalJSON
        #expect(!sealed.hasSecret && !text.contains("0123456789abcdef") && !text.contains("session=abc"))
        #expect(sealed.fingerprint == job.redacted.fingerprint, "another seal is no other job")
        let stored = try JobSpec(canonicalJSON: text)
        let opened = try JobSealer.opened(stored, key)
        #expect(opened.urls == job.urls && opened.settings.headers == job.settings.headers)
    }

    /// An attacker with access to the database exchanges the secrets of two jobs, or sends a secret file elsewhere.
    @Test func secretsOpenOnlyBesideTheirOwnJob() throws {
        let sealer = JobSealer(try #require(key), isShared: false)
        var exchanged = JobSpec.download("https://other.example/b?X-Amz-Signature=***", to: "b")
        exchanged.settings.sealed = try sealer.sealed(job).settings.sealed
        var renamed = try sealer.sealed(job)
        renamed.id = "x"
        var moved = try sealer.sealed(job)
        guard case .download(var download) = moved.work else { return }
        download.destination = "public/a"
        moved.work = .download(download)
        for stored in [exchanged, renamed, moved] {
            do {
                _ = try JobSealer.opened(stored, key)
                Issue.record("opened for \(stored.identity)")
            } catch {
                #expect(error.code == .secretMissing && error.message.contains("for another job"), "\(error)")
            }
        }
    }

    /// A store writes URLs in their canonical spelling.
    @Test func theSpellingOfAURLIsNoOtherJob() throws {
        let sealer = JobSealer(try #require(key), isShared: false)
        let odd = JobSpec.download("https://H.example:443/a?X-Amz-Signature=0123456789abcdef", to: "a")
        let stored = try JobSpec(canonicalJSON: try sealer.sealed(odd).spelt.canonicalJSON)
        #expect(try JobSealer.opened(stored, key).urls == odd.urls)
        // An opened job is opened again when its limits are changed.
        #expect(try JobSealer.opened(try JobSealer.opened(stored, key), key).urls == odd.urls)
    }

    /// Earlier versions bound no secret to its job.
    @Test func secretsOfAnEarlierVersionStayReadable() throws {
        let bytes = [UInt8](repeating: 7, count: 32)
        let sealed = try AuthenticatedEncryption.seal(
            Array(job.canonicalJSON.utf8), key: bytes, context: Array("job".utf8))
        var stored = job.redacted
        stored.settings.sealed = Base64.encode(sealed)
        #expect(try JobSealer.opened(stored, key).urls == job.urls)
    }

    @Test func aNewSignatureIsAnotherSecret() throws {
        let sealer = JobSealer(try #require(key), isShared: false)
        var newer = job
        newer.urls = ["https://h.example/a?X-Amz-Signature=fedcba9876543210"]
        let sealed = try sealer.sealed(job)
        #expect(sealer.holdSameSecrets(sealed, try sealer.sealed(job)))
        #expect(!sealer.holdSameSecrets(sealed, try sealer.sealed(newer)))
        #expect(!sealer.holdSameSecrets(job.redacted, sealed), "nothing is known of a job without secrets")
    }

    /// Limits and bounds may have been set since, and are not those of the sealed job.
    @Test func whatWasChangedSinceRemains() throws {
        var sealed = try JobSealer(try #require(key), isShared: false).sealed(job)
        sealed.settings.limitRate = 1000
        sealed.settings.confinement = JobConfinement(folder: "/srv", allowsPrivate: false)
        let opened = try JobSealer.opened(sealed, key)
        #expect(opened.settings.limitRate == 1000 && opened.settings.confinement?.folder == "/srv")
    }

    @Test func aProcessWithoutTheKeySaysSo() throws {
        let sealed = try JobSealer(try #require(key), isShared: false).sealed(job)
        for key in [nil, other] {
            do {
                _ = try JobSealer.opened(sealed, key)
                Issue.record("opened without the key")
            } catch {
                #expect(error.code == .secretMissing && error.message.contains("key"), "\(error)")
            }
        }
    }

    /// Workers without the key leave such jobs to those that have it.
    @Test func aJobOfASharedQueueNeedsAWorkerWithTheKey() throws {
        let key = try #require(key)
        let sealed = try JobSealer(key, isShared: true).sealed(job)
        #expect(sealed.workerTags == key.tags && key.tags != other?.tags)
        let plain = JobSpec.download("https://h.example/a", to: "a")
        #expect(try JobSealer(key, isShared: true).sealed(plain) == plain)
    }

    @Test func theKeyOfAFolderIsMadeOnceAndIsItsUsersAlone() throws {
        let folder = try TemporaryFolder("key")
        #expect(try SealingKey.existing(in: folder.path) == nil)
        let made = try SealingKey.created(in: folder.path)
        #expect(try SealingKey.created(in: folder.path).name == made.name)
        #expect(try SealingKey.existing(in: folder.path)?.name == made.name)
        let path = folder.path("queue.key")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        try Data("short\n".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: TransferError.self) { try SealingKey.created(in: folder.path) }
    }

    @Test func anOptionNamesTheKeyAndNeverIsIt() throws {
        let digits = String(repeating: "ab", count: 32)
        let secrets = SecretSource(environment: { $0 == "KEY" ? digits : nil })
        #expect(try SealingKey.named("$KEY", secrets, folder: "/").name == SealingKey(text: digits)?.name)
        for word in [digits, "$", "@", "$MISSING", "@/missing"] {
            do {
                _ = try SealingKey.named(word, secrets, folder: "/")
                Issue.record("\(word) names no key")
            } catch {
                #expect(!error.message.contains(digits))
            }
        }
    }
}
