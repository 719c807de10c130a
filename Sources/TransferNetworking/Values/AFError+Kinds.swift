extension AFError {
    /// Whether the body of an upload could not be opened or created.
    public var isCreateUploadableError: Bool { if case .createUploadableFailed = self { true } else { false } }

    /// Whether no `URLRequest` could be created.
    public var isCreateURLRequestError: Bool { if case .createURLRequestFailed = self { true } else { false } }

    /// Whether a complete download could not be moved.
    public var isDownloadedFileMoveError: Bool { if case .downloadedFileMoveFailed = self { true } else { false } }

    /// Whether `cancel()` was called.
    public var isExplicitlyCancelledError: Bool { if case .explicitlyCancelled = self { true } else { false } }

    /// Whether a value is not a URL.
    public var isInvalidURLError: Bool { if case .invalidURL = self { true } else { false } }

    /// Whether a multipart body could not be created.
    public var isMultipartEncodingError: Bool { if case .multipartEncodingFailed = self { true } else { false } }

    /// Whether a `ParameterEncoding` failed.
    public var isParameterEncodingError: Bool { if case .parameterEncodingFailed = self { true } else { false } }

    /// Whether a `ParameterEncoder` failed.
    public var isParameterEncoderError: Bool { if case .parameterEncoderFailed = self { true } else { false } }

    /// Whether an adapter refused the request.
    public var isRequestAdaptationError: Bool { if case .requestAdaptationFailed = self { true } else { false } }

    /// Whether a retrier failed.
    public var isRequestRetryError: Bool { if case .requestRetryFailed = self { true } else { false } }

    /// Whether a validation refused the response.
    public var isResponseValidationError: Bool { if case .responseValidationFailed = self { true } else { false } }

    /// Whether the body could not be serialized.
    public var isResponseSerializationError: Bool {
        if case .responseSerializationFailed = self { true } else { false }
    }

    /// Whether the server was not trusted.
    public var isServerTrustEvaluationError: Bool {
        if case .serverTrustEvaluationFailed = self { true } else { false }
    }

    /// Whether the session was released before the request ended.
    public var isSessionDeinitializedError: Bool { if case .sessionDeinitialized = self { true } else { false } }

    /// Whether the session was invalidated.
    public var isSessionInvalidatedError: Bool { if case .sessionInvalidated = self { true } else { false } }

    /// Whether the network failed.
    public var isSessionTaskError: Bool { if case .sessionTaskFailed = self { true } else { false } }

    /// Whether the URL request is invalid and must not be sent.
    public var isURLRequestValidationError: Bool {
        if case .urlRequestValidationFailed = self { true } else { false }
    }
}
