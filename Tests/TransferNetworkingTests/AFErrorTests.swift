import Foundation
import FoundationNetworking
import Testing

@testable import TransferNetworking

@Suite("AFError")
struct AFErrorTests {
    struct Cause: LocalizedError, Equatable {
        var errorDescription: String? { "the cause" }
    }

    static let file = URL(fileURLWithPath: "/tmp/file")

    /// One error of each case, and the name of the property that is true for it.
    static let kinds: [(error: AFError, kind: any KeyPath<AFError, Bool> & Sendable)] = [
        (.createUploadableFailed(error: Cause()), \.isCreateUploadableError),
        (.createURLRequestFailed(error: Cause()), \.isCreateURLRequestError),
        (.downloadedFileMoveFailed(error: Cause(), source: file, destination: file), \.isDownloadedFileMoveError),
        (.explicitlyCancelled, \.isExplicitlyCancelledError),
        (.invalidURL(url: ""), \.isInvalidURLError),
        (.multipartEncodingFailed(reason: .bodyPartURLInvalid(url: file)), \.isMultipartEncodingError),
        (.parameterEncodingFailed(reason: .missingURL), \.isParameterEncodingError),
        (.parameterEncoderFailed(reason: .missingRequiredComponent(.url)), \.isParameterEncoderError),
        (.requestAdaptationFailed(error: Cause()), \.isRequestAdaptationError),
        (.requestRetryFailed(retryError: Cause(), originalError: Cause()), \.isRequestRetryError),
        (.responseValidationFailed(reason: .dataFileNil), \.isResponseValidationError),
        (.responseSerializationFailed(reason: .inputFileNil), \.isResponseSerializationError),
        (.serverTrustEvaluationFailed(reason: .noCertificatesFound), \.isServerTrustEvaluationError),
        (.sessionDeinitialized, \.isSessionDeinitializedError),
        (.sessionInvalidated(error: nil), \.isSessionInvalidatedError),
        (.sessionTaskFailed(error: URLError(.timedOut)), \.isSessionTaskError),
        (.urlRequestValidationFailed(reason: .bodyDataInGETRequest(Data())), \.isURLRequestValidationError),
    ]

    @Test func everyCaseIsOfItsOwnKindOnly() {
        for (index, (error, _)) in Self.kinds.enumerated() {
            #expect(Self.kinds.map { error[keyPath: $0.kind] } == Self.kinds.indices.map { $0 == index }, "\(error)")
        }
    }

    @Test func everyDescriptionIsDifferentAndNotEmpty() {
        let texts = Self.kinds.map { $0.error.localizedDescription }
        #expect(Set(texts).count == texts.count)
        #expect(texts.allSatisfy { $0.count > 10 && $0 != "The operation could not be completed." })
    }

    @Test(arguments: [
        AFError.createUploadableFailed(error: Cause()), .createURLRequestFailed(error: Cause()),
        .downloadedFileMoveFailed(error: Cause(), source: file, destination: file),
        .multipartEncodingFailed(reason: .bodyPartFileNotReachableWithError(atURL: file, error: Cause())),
        .multipartEncodingFailed(reason: .bodyPartFileSizeQueryFailedWithError(forURL: file, error: Cause())),
        .multipartEncodingFailed(reason: .outputStreamWriteFailed(error: Cause())),
        .multipartEncodingFailed(reason: .inputStreamReadFailed(error: Cause())),
        .parameterEncodingFailed(reason: .jsonEncodingFailed(error: Cause())),
        .parameterEncodingFailed(reason: .customEncodingFailed(error: Cause())),
        .parameterEncoderFailed(reason: .encoderFailed(error: Cause())), .requestAdaptationFailed(error: Cause()),
        .requestRetryFailed(retryError: Cause(), originalError: URLError(.unknown)),
        .responseValidationFailed(reason: .customValidationFailed(error: Cause())),
        .responseSerializationFailed(reason: .jsonSerializationFailed(error: Cause())),
        .responseSerializationFailed(reason: .decodingFailed(error: Cause())),
        .responseSerializationFailed(reason: .customSerializationFailed(error: Cause())),
        .serverTrustEvaluationFailed(reason: .customEvaluationFailed(error: Cause())),
        .serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: Cause())),
        .sessionInvalidated(error: Cause()), .sessionTaskFailed(error: Cause()),
    ])
    func theUnderlyingErrorIsFoundAndDescribed(error: AFError) {
        #expect(error.underlyingError is Cause)
        #expect(error.localizedDescription.contains("the cause"))
    }

    @Test(arguments: [
        AFError.explicitlyCancelled, .sessionDeinitialized, .invalidURL(url: ""), .sessionInvalidated(error: nil),
        .responseValidationFailed(reason: .unacceptableStatusCode(code: 404)),
        .serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: nil)),
    ])
    func aSimpleErrorHasNoUnderlyingError(error: AFError) {
        #expect(error.underlyingError == nil)
    }

    @Test func detailsOfRefusedResponsesAreThere() {
        let type = AFError.responseValidationFailed(
            reason: .unacceptableContentType(acceptableContentTypes: ["a/b"], responseContentType: "c/d"))
        #expect(type.acceptableContentTypes == ["a/b"])
        #expect(type.responseContentType == "c/d")
        #expect(type.responseCode == nil)
        let missing = AFError.responseValidationFailed(reason: .missingContentType(acceptableContentTypes: ["a/b"]))
        #expect(missing.acceptableContentTypes == ["a/b"])
        #expect(missing.responseContentType == nil)
        let status = AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: 418))
        #expect(status.responseCode == 418)
        #expect(status.acceptableContentTypes == nil)
        let text = AFError.responseSerializationFailed(reason: .stringSerializationFailed(encoding: .utf16))
        #expect(text.failedStringEncoding == .utf16)
    }

    @Test func filesOfFailuresAreNamed() {
        let (source, target) = (URL(fileURLWithPath: "/a"), URL(fileURLWithPath: "/b"))
        let move = AFError.downloadedFileMoveFailed(error: Cause(), source: source, destination: target)
        #expect(move.sourceURL == source)
        #expect(move.destinationURL == target)
        #expect(move.url == nil)
        let part = AFError.multipartEncodingFailed(reason: .bodyPartFileIsDirectory(at: source))
        #expect(part.url == source)
        #expect(AFError.multipartEncodingFailed(reason: .inputStreamReadFailed(error: Cause())).url == nil)
        #expect(AFError.invalidURL(url: "x y").urlConvertible as? String == "x y")
    }

    @Test func resumeDataOfAFailedDownloadComesFromTheNetworksError() {
        let data = Data([1, 2])
        let cause = URLError(.networkConnectionLost, userInfo: [NSURLSessionDownloadTaskResumeData: data])
        #expect(AFError.sessionTaskFailed(error: cause).downloadResumeData == data)
        #expect(AFError.sessionTaskFailed(error: URLError(.timedOut)).downloadResumeData == nil)
    }

    @Test func otherErrorsAreNoAFErrors() {
        #expect((Cause() as any Error).asAFError == nil)
        #expect((AFError.explicitlyCancelled as any Error).asAFError?.isExplicitlyCancelledError == true)
        let wrapped = Cause().asAFError { .requestAdaptationFailed(error: $0) }
        #expect(wrapped.isRequestAdaptationError)
        let kept = AFError.sessionDeinitialized.asAFError { .requestAdaptationFailed(error: $0) }
        #expect(kept.isSessionDeinitializedError)
    }

    @Test func insistingOnAnAFErrorEndsTheProgramOverAnother() async {
        let error: any Error = AFError.explicitlyCancelled
        #expect(error.asAFError(orFailWith: "never").isExplicitlyCancelledError)
        await #expect(processExitsWith: .failure) { _ = URLError(.timedOut).asAFError(orFailWith: "no AFError") }
    }

    @Test func urlsThatWrappedErrorsQuoteLoseTheirSecrets() {
        struct Leak: Error, CustomStringConvertible {
            var description: String { "cannot reach (https://user:hidden@h/x?token=hidden&q=1), nor http://h/?q=2" }
        }
        let text = AFError.createURLRequestFailed(error: Leak()).localizedDescription
        #expect(!text.contains("hidden"))
        #expect(text.hasSuffix("cannot reach (https://h/x?token=***&q=1), nor http://h/?q=2"))
        let network = URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: "GET http://u:hidden@h/ failed"])
        #expect(AFError.sessionTaskFailed(error: network).localizedDescription.hasSuffix("GET http://h/ failed"))
    }

    @Test func aBodyThatMustNotBeThereIsCountedAndNotShown() {
        let error = AFError.urlRequestValidationFailed(reason: .bodyDataInGETRequest(Data("hidden".utf8)))
        #expect(error.localizedDescription.contains("6 bytes"))
        #expect(!error.localizedDescription.contains("hidden"))
    }

    @Test func theLengthOfAStreamThatLiedIsKept() {
        let error = AFError.UnexpectedInputStreamLength(bytesExpected: 5, bytesRead: 3)
        #expect(error == AFError.UnexpectedInputStreamLength(bytesExpected: 5, bytesRead: 3))
        #expect(error.bytesExpected == 5 && error.bytesRead == 3)
    }
}
