"""The paper, reproduced: experiments write records, figures and the report only read them."""
