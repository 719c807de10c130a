extension DataStreamRequest.Stream {
    /// The result of a piece; `nil` at the end.
    public var result: Result<Success, Failure>? {
        if case .stream(let result) = event { return result }
        return nil
    }

    /// The value of a piece; `nil` at the end, or if the piece could not be serialized.
    public var value: Success? { try? result?.get() }

    /// The error of a piece that could not be serialized; `nil` otherwise.
    public var error: Failure? {
        if case .failure(let error) = result { return error }
        return nil
    }

    /// The completion at the end; `nil` for a piece.
    public var completion: DataStreamRequest.Completion? {
        if case .complete(let completion) = event { return completion }
        return nil
    }
}
