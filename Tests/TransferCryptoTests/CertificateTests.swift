import Foundation
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferCrypto

@Suite struct CertificateTests {
    private func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

    @Test func aCertificateReportsItsNamesDatesAndSerialNumber() async throws {
        let authority = try await TestAuthority.shared()
        let before = Int64(Date().timeIntervalSince1970)
        let issued = try await authority.issue {
            $0.name = "Ünï, \"Quoted\""
            $0.alternativeNames = ["DNS:a.example", "IP:10.0.0.1", "IP:fe80::1", "email:a@b.example", "DNS:b.example"]
        }
        let certificate = try Certificate.certificates(atPath: issued.certificate)[0]
        #expect(certificate.subjectNames == ["a.example", "10.0.0.1", "fe80::1", "b.example"])
        #expect(certificate.subject.hasPrefix("CN="))
        #expect(certificate.subject.contains("\\\"Quoted\\\""))
        #expect(certificate.issuer == "CN=Test Intermediate,O=Test")
        #expect(certificate.serialNumber == issued.serial)
        #expect(abs(certificate.notBefore - (before - 86_400)) < 60)
        #expect(abs(certificate.notAfter - (before + 2 * 86_400)) < 60)
        #expect(!certificate.isSelfSigned)
        #expect("\(certificate)" == certificate.subject)
    }

    @Test func theDigestIsThatOfOpenSSLsCommand() async throws {
        let authority = try await TestAuthority.shared()
        let der = try await authority.der(authority.root.certificate)
        let certificate = try Certificate(der: try bytes(der))
        let name = der.split(separator: "/").last.map(String.init) ?? ""
        let expected = try await authority.folder.sha256(name)
        #expect(certificate.sha256.map { String(format: "%02x", $0) }.joined() == expected)
        #expect(certificate.isSelfSigned)
    }

    @Test func pemAndDERAreTheSameCertificate() async throws {
        let authority = try await TestAuthority.shared()
        let fromPEM = try Certificate.certificates(atPath: authority.root.certificate)
        let fromDER = try Certificate.certificates(atPath: try await authority.der(authority.root.certificate))
        #expect(fromPEM == fromDER)
        #expect(Set(fromPEM + fromDER).count == 1)
        let retained = fromPEM[0].withPointer { Certificate(retaining: $0) }
        #expect(retained == fromDER[0])
    }

    @Test func aPEMFileMayHaveSeveralAndOtherThings() async throws {
        let authority = try await TestAuthority.shared()
        let issued = try await authority.issue()
        var text = "words before\n" + (try String(contentsOfFile: issued.key, encoding: .utf8))
        text += try String(contentsOfFile: issued.chain, encoding: .utf8)
        let certificates = try Certificate.certificates(pemOrDER: Array(text.utf8))
        #expect(certificates.map(\.subject) == ["CN=localhost", "CN=Test Intermediate,O=Test"])
    }

    @Test func invalidCertificatesAreRefused() async throws {
        let authority = try await TestAuthority.shared()
        let der = try bytes(try await authority.der(authority.root.certificate))
        #expect(throws: TransferError.self) { try Certificate(der: []) }
        #expect(throws: TransferError.self) { try Certificate(der: Array(der.dropLast())) }
        #expect(throws: TransferError.self) { try Certificate(der: der + [0]) }
        #expect(throws: TransferError.self) { try Certificate.certificates(pemOrDER: Array("nothing".utf8)) }
        let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        #expect(throws: TransferError.self) { try Certificate.certificates(pemOrDER: Array(damaged.utf8)) }
        let key = try bytes(authority.root.key)
        let error = #expect(throws: TransferError.self) { try Certificate.certificates(pemOrDER: key) }
        #expect(error?.message == "the PEM text has no certificate")
    }

    @Test func errorsNameTheFile() async throws {
        let folder = try TemporaryFolder()
        let missing = #expect(throws: TransferError.self) {
            try Certificate.certificates(atPath: folder.path("none.pem"))
        }
        #expect(missing?.code == .fileMissing)
        #expect(missing?.message.contains(folder.path("none.pem")) == true)
        let empty = try folder.write("", to: "empty.pem")
        let error = #expect(throws: TransferError.self) { try Certificate.certificates(atPath: empty) }
        #expect(error?.message.hasPrefix(empty) == true)
        let isFolder = #expect(throws: TransferError.self) { try Certificate.certificates(atPath: folder.path) }
        #expect(isFolder?.code == .fileAccess)
    }

    @Test func aFoldersCertificatesComeByNameAndOnce() async throws {
        let authority = try await TestAuthority.shared()
        let issued = try await authority.issue()
        let folder = try TemporaryFolder()
        try folder.write(Data(try bytes(try await authority.der(authority.root.certificate))), to: "a.der")
        try folder.write(Data(try bytes(issued.chain)), to: "b.CRT")
        try folder.write(Data(try bytes(authority.intermediate.certificate)), to: "c.cer")
        try folder.write(Data(try bytes(issued.key)), to: "d.pem")
        try folder.write("nothing", to: "e.txt")
        try folder.folder("below")
        let certificates = try Certificate.certificates(inFolder: folder.path)
        #expect(
            certificates.map(\.subject)
                == ["CN=Test Root,O=Test", "CN=localhost", "CN=Test Intermediate,O=Test"])
        try folder.write("damaged", to: "f.crt")
        let error = #expect(throws: TransferError.self) { try Certificate.certificates(inFolder: folder.path) }
        #expect(error?.message.hasPrefix(folder.path("f.crt")) == true)
        #expect(throws: TransferError.self) { try Certificate.certificates(inFolder: folder.path("none")) }
    }

    // MARK: Public keys

    @Test func thePinIsThatOfOpenSSLsCommand() async throws {
        let authority = try await TestAuthority.shared()
        let issued = try await authority.issue()
        let publicKey = try await authority.publicKey(issued.certificate)
        let script = "openssl pkey -pubin -in '\(publicKey)' -outform DER | openssl dgst -sha256 -binary | base64"
        let result = try await ChildProcess.start(ChildProcess.Command("/bin/sh", ["-c", script])).result()
        let certificate = try Certificate.certificates(atPath: issued.certificate)[0]
        let expected = "sha256/" + result.standardOutput.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(certificate.publicKey.pin == expected)
        #expect(certificate.publicKey.spkiSHA256.count == 32)
    }

    @Test func aRenewedCertificateKeepsItsKey() async throws {
        let authority = try await TestAuthority.shared()
        let old = try await authority.issue()
        let new = try await authority.issue { $0.key = old.key }
        let (one, other) = (
            try Certificate.certificates(atPath: old.certificate)[0],
            try Certificate.certificates(atPath: new.certificate)[0]
        )
        #expect(one != other)
        #expect(one.publicKey == other.publicKey)
        #expect(Set([one.publicKey, other.publicKey]).count == 1)
    }

    @Test func keysComeFromKeysAndCertificates() async throws {
        let authority = try await TestAuthority.shared()
        let issued = try await authority.issue()
        let expected = try Certificate.certificates(atPath: issued.certificate)[0].publicKey
        #expect(try PublicKey.publicKeys(atPath: try await authority.publicKey(issued.certificate)) == [expected])
        #expect(try PublicKey.publicKeys(atPath: issued.certificate) == [expected])
        #expect(try PublicKey.publicKeys(atPath: try await authority.der(issued.certificate)) == [expected])
        #expect(try PublicKey.publicKeys(pemOrDER: expected.der) == [expected])
        #expect(try PublicKey.publicKeys(atPath: issued.chain).count == 2)
        #expect(throws: TransferError.self) { try PublicKey.publicKeys(atPath: issued.key) }
        #expect(throws: TransferError.self) { try PublicKey(der: [1, 2, 3]) }
    }

    @Test func aFoldersKeysComeOnce() async throws {
        let authority = try await TestAuthority.shared()
        let issued = try await authority.issue()
        let folder = try TemporaryFolder()
        try folder.write(Data(try bytes(issued.certificate)), to: "a.pem")
        try folder.write(Data(try bytes(try await authority.publicKey(issued.certificate))), to: "b.pub")
        try folder.write(Data(try bytes(issued.key)), to: "c.key")
        let keys = try PublicKey.publicKeys(inFolder: folder.path)
        #expect(keys == [try Certificate.certificates(atPath: issued.certificate)[0].publicKey])
    }
}
