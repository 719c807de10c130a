import Testing
import TransferCore

@testable import TransferEngine

/// The messages about limits of the SSH library: a missing feature of the library is no fault of the server.
@Suite struct SSHLibraryTests {
    @Test(arguments: [
        ("libssh2/1.10.0", true), ("libssh2/1.8.0", true), ("libssh2/1.11.0", false), ("libssh2/1.11.1_DEV", false),
        ("libssh2/2.0", false), ("libssh/0.10.6/openssl/zlib", false), ("", false),
    ])
    func signaturesWithSHA2CameWith1_11(_ version: String, _ isOld: Bool) {
        #expect(SSHLibrary(version).signsBySHA1Alone == isOld)
        #expect((SSHLibrary(version).rsaWords != nil) == isOld)
    }

    @Test(arguments: [
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n", SSHKeyKind.rsa),
        ("PuTTY-User-Key-File-3: ssh-ed25519\n", .putty), ("ssh-ed25519 AAAAC3Nz me@here\n", .publicHalf),
        ("sk-ssh-ed25519@openssh.com AAAA me\n", .publicHalf), ("no key at all", .other),
    ])
    func theKindOfAKeyIsReadFromItsFile(_ text: String, _ kind: SSHKeyKind) { #expect(SSHKeyKind(text) == kind) }

    @Test(arguments: [
        ("ssh-rsa", SSHKeyKind.rsa), ("sk-ssh-ed25519@openssh.com", .device), ("ssh-ed25519", .other),
        ("ecdsa-sha2-nistp256", .other),
    ])
    func theKindOfAKeyIsReadFromOpenSSHsFormat(_ type: String, _ kind: SSHKeyKind) {
        var bytes = Array("openssh-key-v1\0".utf8) + [0, 0, 0, 4] + Array("none".utf8)
        bytes += [0, 0, 0, UInt8(type.utf8.count)] + Array(type.utf8) + [UInt8](repeating: 7, count: 64)
        let text = "-----BEGIN OPENSSH PRIVATE KEY-----\n\(Base64.encode(bytes))\n-----END OPENSSH PRIVATE KEY-----\n"
        #expect(SSHKeyKind(text) == kind)
    }

    @Test func messagesNameTheLibraryAndTheRemedy() throws {
        let old = SSHLibrary("libssh2/1.10.0")
        #expect(SSHKeyKind.rsa.words(old)?.contains("libssh2 1.10.0 signs by an RSA key with SHA-1 alone") == true)
        #expect(SSHKeyKind.rsa.words(SSHLibrary("libssh2/1.11.0")) == nil)
        #expect(SSHKeyKind.device.words(old)?.contains("security device") == true)
        let words = "Failure establishing ssh session: -5, Unable to exchange encryption keys"
        #expect(SSHLibrary.isDisagreement(words) && !SSHLibrary.isDisagreement("Failure establishing ssh session: -13"))
        let origin = try #require(Origin(fileServerURL: "sftp://h.test:2222/f"))
        let error = old.disagreement(origin, file: "/home/me/kh", words)
        #expect(error.isTransient == false && error.code == .secureConnectionFailed)
        #expect(error.message.contains("libssh2 1.10.0"))
        #expect(error.message.contains("ssh-keyscan -t ed25519 -p 2222 h.test >> /home/me/kh"))
    }
}
